import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider';
import {
  generateText,
  type ModelMessage,
  Output,
  stepCountIs,
  streamText,
  ToolLoopAgent,
  type ToolSet,
  tool,
  wrapLanguageModel,
} from 'ai';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CompactionError } from '../../src/errors.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { type AiSdkRequest, aiSdkMiddleware } from '../../src/frameworks/ai-sdk.ts';
import { createAiSdkError } from '../../src/testing/kits/ai-sdk/errors.ts';
import { validateAiSdk } from '../../src/testing/wire/ai-sdk.ts';
import { eventOf, lifecycleOf, noticesOf } from '../support/harness.ts';
import { countTokens, goodSummary } from '../support/scripted-model.ts';

const isSummary = ({ prompt }: LanguageModelV3CallOptions): boolean =>
  JSON.stringify(prompt).includes('context compaction request');

const usageOf = (total: number | undefined): LanguageModelV3GenerateResult['usage'] => ({
  inputTokens: { total, noCache: total, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 10, text: 10, reasoning: undefined },
});

function result(content: LanguageModelV3Content[], usage = usageOf(undefined)): LanguageModelV3GenerateResult {
  const unified = content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop';
  return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
}
const says = (text: string): LanguageModelV3GenerateResult => result([{ type: 'text', text }]);
const callsTool = (id: string): LanguageModelV3GenerateResult =>
  result([{ type: 'tool-call', toolCallId: id, toolName: 'read', input: '{"path":"a.ts"}' }]);

type Reply = (callOptions: LanguageModelV3CallOptions) => LanguageModelV3GenerateResult | Promise<LanguageModelV3GenerateResult>;

/** A model that refuses what no provider takes, and remembers what it was asked. */
function startModel(turn: Reply, { summary = () => says(goodSummary), ...names }: { summary?: Reply; modelId?: string } = {}) {
  const calls: LanguageModelV3CallOptions[] = [];
  const answer: Reply = async (callOptions) => {
    expect(validateAiSdk(callOptions)).toEqual([]);
    expect(callOptions).not.toHaveProperty('model');
    calls.push(callOptions);
    return isSummary(callOptions) ? summary(callOptions) : turn(callOptions);
  };
  const inner = new MockLanguageModelV3({
    ...names,
    doGenerate: async (callOptions) => answer(callOptions),
    doStream: async (callOptions) => {
      const { content, finishReason, usage } = await answer(callOptions);
      const parts = content.flatMap((part, index): LanguageModelV3StreamPart[] => {
        const id = String(index);
        if (part.type !== 'text') return part.type === 'tool-call' ? [part] : [];
        return [
          { type: 'text-start', id },
          { type: 'text-delta', id, delta: part.text },
          { type: 'text-end', id },
        ];
      });
      return {
        stream: simulateReadableStream({
          chunks: [{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', finishReason, usage }],
        }),
      };
    },
  });
  return {
    inner,
    calls,
    summaries: () => calls.filter(isSummary),
    turns: () => calls.filter((callOptions) => !isSummary(callOptions)),
  };
}

function start(turn: Reply, options: Parameters<typeof aiSdkMiddleware<LanguageModelV3CallOptions>>[0] & { reply?: Reply } = {}) {
  const { reply, ...rest } = options;
  const events: CompactionEvent[] = [];
  const model = startModel(turn, reply && { summary: reply });
  const middleware = aiSdkMiddleware({
    contextWindow: 10_000,
    budget: { threshold: 500, countTokens },
    onEvent: (event) => void events.push(event),
    ...rest,
  });
  return { ...model, events, middleware, model: wrapLanguageModel({ model: model.inner, middleware }) };
}

/** Calls the tool so many times, then answers. */
function worker(steps: number): Reply {
  let step = 0;
  return () => (++step > steps ? says('Done.') : callsTool(`call_${step}`));
}

const inputSchema = z.object({ path: z.string() });
const execute = async (): Promise<string> => 'x'.repeat(1500);
const tools: ToolSet = { read: tool({ inputSchema, execute }) };
const stopWhen = stepCountIs(20);
const isCompacted = (messages: unknown): boolean => JSON.stringify(messages).includes('<compacted_context>');

describe('aiSdkMiddleware', () => {
  it('compacts in the middle of a tool loop, and the loop goes on', async () => {
    const { model, events, summaries, turns } = start(worker(4));
    const { text, steps } = await generateText({ model, tools, stopWhen, system: 'Be exact.', prompt: 'Read it all.' });
    expect(text).toBe('Done.');
    expect(steps).toHaveLength(5);
    expect(lifecycleOf(events)).toContain('applied');
    expect(noticesOf(events)).toEqual([]);
    const [fork] = summaries();
    expect(fork?.prompt.slice(0, -1)).toEqual([...turns()[0]!.prompt, ...fork!.prompt.slice(2, -1)]);
    expect(fork?.tools).toEqual(turns()[0]?.tools);
    const last = turns().at(-1)!;
    expect(last.prompt[0]).toMatchObject({ role: 'system', content: 'Be exact.' });
    expect(isCompacted(last.prompt[1])).toBe(true);
    expect(JSON.stringify(last.prompt[1])).toContain('Read it all.');
  });

  it.each([false, true])('recovers from an overflow where that is asked for, streamed: %s', async (streamed) => {
    for (const recoverOverflow of [true, false]) {
      const long: ModelMessage[] = [
        { role: 'user', content: 'Begin.' },
        { role: 'assistant', content: 'a'.repeat(8000) },
        { role: 'user', content: 'And now?' },
      ];
      // The window is smaller than it was said to be.
      const turn: Reply = ({ prompt }) => {
        if (JSON.stringify(prompt).length > 6000) throw createAiSdkError('overflow');
        return says('Done.');
      };
      const { model, events, turns, summaries } = start(turn, {
        budget: { countTokens },
        contextWindow: 100_000,
        recoverOverflow,
      });
      const call = streamed
        ? streamText({ model, messages: long, maxRetries: 0, onError: () => undefined })
        : generateText({ model, messages: long, maxRetries: 0 });
      const text = await Promise.resolve(call)
        .then((reply) => reply.text)
        .catch(() => 'refused');
      expect(text).toBe(recoverOverflow ? 'Done.' : 'refused');
      expect(summaries()).toHaveLength(recoverOverflow ? 1 : 0);
      expect(turns()).toHaveLength(recoverOverflow ? 2 : 1);
      expect(noticesOf(events).includes('overflow-recovered')).toBe(recoverOverflow);
    }
  });

  it('serves an agent of the SDK, streaming or not', async () => {
    for (const streamed of [false, true]) {
      const { model, events, turns } = start(worker(4));
      const agent = new ToolLoopAgent({ model, tools, instructions: 'Be exact.', stopWhen });
      const text = streamed
        ? await (await agent.stream({ prompt: 'Read it all.' })).text
        : (await agent.generate({ prompt: 'Read it all.' })).text;
      expect(text).toBe('Done.');
      expect(lifecycleOf(events)).toContain('applied');
      expect(turns()).toHaveLength(5);
    }
  });

  it('serves a loop of the host around generateText, whose messages stay whole', async () => {
    const { model, summaries, turns } = start(worker(5));
    const messages: ModelMessage[] = [{ role: 'user', content: 'Read it all.' }];
    for (;;) {
      const { response, finishReason } = await generateText({ model, tools, messages });
      messages.push(...response.messages);
      if (finishReason !== 'tool-calls') break;
    }
    expect(messages).toHaveLength(12);
    expect(isCompacted(messages)).toBe(false);
    expect(summaries().length).toBeGreaterThan(0);
    expect(isCompacted(turns().at(-1)?.prompt)).toBe(true);
    const again = await generateText({ model, messages: [...messages, { role: 'user', content: 'And now?' }] });
    expect(again.text).toBe('Done.');
    expect(isCompacted(turns().at(-1)?.prompt)).toBe(true);
  });

  it('a model that is wrapped twice is compacted once', async () => {
    const once = start(worker(6));
    await generateText({ model: once.model, tools, stopWhen, prompt: 'Read it all.' });
    for (const isSame of [true, false]) {
      const { middleware, model, summaries, turns } = start(worker(6));
      const other = isSame ? middleware : aiSdkMiddleware({ contextWindow: 10_000, budget: { threshold: 500, countTokens } });
      const twice = wrapLanguageModel({ model, middleware: other });
      const { text } = await generateText({ model: twice, tools, stopWhen, prompt: 'Read it all.' });
      expect(text).toBe('Done.');
      expect(summaries()).toHaveLength(once.summaries().length);
      expect(turns().map(({ prompt }) => prompt.length)).toEqual(once.turns().map(({ prompt }) => prompt.length));
    }
  });

  it('hands on the very same parameters where nothing is compacted', async () => {
    const { middleware, inner } = start(() => says('Hi.'));
    const params: LanguageModelV3CallOptions = {
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
      providerOptions: { openai: { store: false } },
    };
    const transformed = await middleware.transformParams({ type: 'generate', params, model: inner });
    expect(transformed).toBe(params);
    expect(params).toEqual({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
      providerOptions: { openai: { store: false } },
    });
  });

  it('keeps conversations apart that go through one middleware', async () => {
    const { model, turns, summaries } = start(() => says('Done.'));
    const talk = (name: string): ModelMessage[] => [
      { role: 'user', content: `${name}: ${'hello '.repeat(400)}` },
      { role: 'assistant', content: 'Hi.' },
      { role: 'user', content: `Who am I, ${name}?` },
    ];
    await Promise.all(['Ann', 'Bob'].map((name) => generateText({ model, messages: talk(name) })));
    expect(summaries()).toHaveLength(2);
    expect(turns()).toHaveLength(2);
    for (const { prompt } of turns()) {
      const text = JSON.stringify(prompt);
      expect(text.includes('Ann')).toBe(!text.includes('Bob'));
    }
  });

  it('keeps what it compacted when another model takes the conversation over', async () => {
    const events: CompactionEvent[] = [];
    const middleware = aiSdkMiddleware({
      contextWindow: 10_000,
      budget: { threshold: 500, countTokens },
      onEvent: (event) => void events.push(event),
    });
    const first = startModel(() => says('Done.'), { modelId: 'small' });
    const second = startModel(() => says('Done.'), { modelId: 'large' });
    const messages: ModelMessage[] = [
      { role: 'user', content: 'hello '.repeat(500) },
      { role: 'assistant', content: 'Hi.' },
      { role: 'user', content: 'Go on.' },
    ];
    await generateText({ model: wrapLanguageModel({ model: first.inner, middleware }), messages });
    await generateText({
      model: wrapLanguageModel({ model: second.inner, middleware }),
      messages: [...messages, { role: 'assistant', content: 'Done.' }, { role: 'user', content: 'And?' }],
    });
    expect(first.summaries()).toHaveLength(1);
    expect(second.summaries()).toHaveLength(0);
    expect(isCompacted(second.turns()[0]?.prompt)).toBe(true);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  });

  it('asks in the way that the call is made', async () => {
    for (const streamed of [false, true]) {
      const { model, inner, summaries } = start(worker(3));
      const request = { model, tools, stopWhen, prompt: 'Read it all.' };
      if (streamed) await streamText(request).consumeStream();
      else await generateText(request);
      expect(summaries().length).toBeGreaterThan(0);
      expect((streamed ? inner.doGenerateCalls : inner.doStreamCalls).length).toBe(0);
    }
  });

  it('lets the turn go on with its whole history where the summary fails', async () => {
    const { model, events, turns } = start(worker(3), {
      reply: () => {
        throw createAiSdkError('invalid');
      },
    });
    const { text } = await generateText({ model, tools, stopWhen, prompt: 'Read it all.' });
    expect(text).toBe('Done.');
    expect(lifecycleOf(events)).toContain('failed: summarizer-failed');
    expect(isCompacted(turns().at(-1)?.prompt)).toBe(false);
    expect(turns().at(-1)?.prompt).toHaveLength(7);
  });

  it('denies the tools that the model calls instead of writing a summary, and runs none', async () => {
    const script = [callsTool('private_1'), callsTool('private_2'), says(goodSummary)];
    let ran = 0;
    const { model, events, summaries } = start(worker(2), { reply: () => script.shift() ?? says(goodSummary) });
    const counted: ToolSet = {
      read: tool({
        inputSchema,
        execute: () => {
          ran++;
          return execute();
        },
      }),
    };
    const { text } = await generateText({ model, tools: counted, stopWhen, prompt: 'Read it all.' });
    expect(text).toBe('Done.');
    expect(ran).toBe(2);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(summaries()).toHaveLength(3);
    expect(summaries().at(-1)?.prompt.slice(-4)).toMatchObject([
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'private_1', input: { path: 'a.ts' } }] },
      { role: 'tool', content: [{ toolCallId: 'private_1', toolName: 'read', output: { type: 'error-text' } }] },
      { role: 'assistant', content: [{ toolCallId: 'private_2' }] },
      { role: 'tool', content: [{ toolCallId: 'private_2', toolName: 'read' }] },
    ]);
  });

  it('an abort of the call reaches the summary, and rejects as it always does', async () => {
    for (const reason of [undefined, new Error('the user left')]) {
      const controller = new AbortController();
      let seen: AbortSignal | undefined;
      const { model, events, turns } = start(worker(3), {
        reply: ({ abortSignal }) =>
          new Promise((_, reject) => {
            seen = abortSignal;
            abortSignal?.addEventListener('abort', () => reject(abortSignal.reason));
            controller.abort(reason);
          }),
      });
      const before = new AbortController();
      before.abort(reason);
      const running = generateText({ model, tools, stopWhen, prompt: 'Read it all.', abortSignal: controller.signal });
      const error = await running.catch((thrown: unknown) => thrown);
      expect(error).toBe(controller.signal.reason);
      expect(seen?.aborted).toBe(true);
      expect(lifecycleOf(events)).toEqual(['started', 'cancelled by parent']);
      const count = turns().length;
      await expect(generateText({ model, prompt: 'Hello', abortSignal: before.signal })).rejects.toBe(before.signal.reason);
      expect(turns()).toHaveLength(count);
    }
  });

  it('an abort while the summary is written ends a stream as it always does', async () => {
    const controller = new AbortController();
    const { model, events } = start(worker(3), {
      reply: ({ abortSignal }) =>
        new Promise((_, reject) => {
          abortSignal?.addEventListener('abort', () => reject(abortSignal.reason));
          controller.abort();
        }),
    });
    const aborted: unknown[] = [];
    const result = streamText({
      model,
      tools,
      stopWhen,
      prompt: 'Read it all.',
      abortSignal: controller.signal,
      onAbort: (event) => void aborted.push(event),
    });
    const types: string[] = [];
    for await (const part of result.fullStream) types.push(part.type);
    expect(types.at(-1)).toBe('abort');
    expect(aborted).toHaveLength(1);
    expect(lifecycleOf(events)).toEqual(['started', 'cancelled by parent']);
  });

  it('a compaction can be cancelled from outside, and the turn goes on', async () => {
    const { model, events } = start(worker(2), {
      onEvent: (event) => {
        events.push(event);
        if (event.type === 'auto_compaction_started') event.cancel();
      },
    });
    expect((await generateText({ model, tools, stopWhen, prompt: 'Read it all.' })).text).toBe('Done.');
    expect(lifecycleOf(events)).toContain('cancelled by child');
  });

  it('compacts a call that wants an object, and asks for the summary as prose', async () => {
    const { model, events, summaries, turns } = start(({ responseFormat }) =>
      says(responseFormat?.type === 'json' ? '{"cause":"expired"}' : 'Done.'),
    );
    const messages: ModelMessage[] = [
      { role: 'user', content: 'hello '.repeat(500) },
      { role: 'assistant', content: 'Hi.' },
      { role: 'user', content: 'Why?' },
    ];
    const { output } = await generateText({
      model,
      messages,
      output: Output.object({ schema: z.object({ cause: z.string() }) }),
    });
    expect(output).toEqual({ cause: 'expired' });
    expect(summaries()[0]?.responseFormat).toBeUndefined();
    expect(turns()[0]?.responseFormat?.type).toBe('json');
    expect(eventOf(events, 'auto_compaction_applied')).toMatchObject({ prefix: 'changed', because: ['responseFormat'] });
  });

  it('leaves a step alone that waits for an approval, and compacts the next', async () => {
    const approved: ToolSet = { read: tool({ inputSchema, execute, needsApproval: true }) };
    const { model, summaries, turns } = start(worker(2));
    const messages: ModelMessage[] = [{ role: 'user', content: 'Read it all.' }];
    for (let round = 0; round < 2; round++) {
      const { content, response } = await generateText({ model, tools: approved, messages });
      const request = content.find(({ type }) => type === 'tool-approval-request') as { approvalId: string };
      messages.push(...response.messages, {
        role: 'tool',
        content: [{ type: 'tool-approval-response', approvalId: request.approvalId, approved: true }],
      });
    }
    const { text } = await generateText({ model, tools: approved, messages });
    expect(text).toBe('Done.');
    // The tools ran before the model was called: nothing was pending then.
    expect(summaries()).toHaveLength(1);
    expect(JSON.stringify(turns().at(-1)?.prompt)).not.toContain('approval');
  });

  it('asks another model for the summary where one is given', async () => {
    const other = startModel(() => says(goodSummary));
    const { model, summaries, events } = start(worker(2), {
      summary: {
        send: (callOptions: LanguageModelV3CallOptions, { signal }) =>
          other.inner.doGenerate({ ...callOptions, abortSignal: signal }),
      },
    });
    await generateText({ model, tools, stopWhen, prompt: 'Read it all.' });
    expect(summaries()).toHaveLength(0);
    expect(other.summaries()).toHaveLength(1);
    expect(lifecycleOf(events)).toContain('applied');
  });

  it('names conversations as the host does, and tells commits of it', async () => {
    const commits: unknown[] = [];
    const { model, events } = start(worker(2), {
      conversation: ({ headers }: LanguageModelV3CallOptions) => headers?.['x-chat'],
      commit: ({ conversation, request }) => void commits.push([conversation, isCompacted(request.prompt)]),
    });
    await generateText({ model, tools, stopWhen, prompt: 'Read it all.', headers: { 'x-chat': 'chat-7' } });
    expect(commits).toEqual([['chat-7', true]]);
    expect(events.every((event) => event.conversation === 'chat-7')).toBe(true);
  });

  it('a naming function that throws loses nothing', async () => {
    const { model, events } = start(worker(2), {
      conversation: () => {
        throw new Error('no name today');
      },
    });
    expect((await generateText({ model, tools, stopWhen, prompt: 'Read it all.' })).text).toBe('Done.');
    expect(lifecycleOf(events)).toContain('applied');
    expect(noticesOf(events)).toContain('unreadable-request');
  });

  it('takes usage from results and from streams, and builds on it', async () => {
    for (const streamed of [false, true]) {
      const seen: AiSdkRequest[] = [];
      const { model, middleware } = start(() => result([{ type: 'text', text: 'Hi.' }], usageOf(321)), {
        budget: { countTokens },
      });
      const prompt = 'hello '.repeat(100);
      const inner = wrapLanguageModel({
        model,
        middleware: {
          specificationVersion: 'v3',
          transformParams: async ({ params }) => {
            seen.push({ ...params, model: { provider: 'mock-provider', modelId: 'mock-model-id' } });
            return params;
          },
        },
      });
      if (streamed) await streamText({ model: inner, prompt }).consumeStream();
      else await generateText({ model: inner, prompt });
      expect(middleware.compactor.estimate(seen[0]! as never)).toMatchObject({ tokens: 321, sources: { tokens: 'usage' } });
    }
  });

  it('an odd usage is no reason to lose a reply', async () => {
    const trap = Object.defineProperty({}, 'inputTokens', {
      get() {
        throw new TypeError('no usage today');
      },
    });
    for (const usage of [undefined, null, 5, {}, trap]) {
      const { middleware, inner: model } = start(() => says('Hi.'));
      const params = { prompt: [] };
      const reply = { content: [], finishReason: { unified: 'stop' }, usage } as never;
      expect(await middleware.wrapGenerate({ doGenerate: async () => reply, params, model })).toBe(reply);
    }
  });

  it('lets a prompt pass that it cannot read, and says so', async () => {
    const { middleware, events, inner } = start(() => says('Hi.'));
    for (const prompt of [undefined, 'Hello', [null], [{ role: 'wizard', content: [] }], [{ role: 'user', content: 5 }]]) {
      events.length = 0;
      const params = { prompt } as unknown as LanguageModelV3CallOptions;
      expect(await middleware.transformParams({ type: 'generate', params, model: inner })).toBe(params);
      expect(noticesOf(events)).toEqual(['unreadable-request']);
    }
  });

  it('refuses options that it does not know', () => {
    expect(() => aiSdkMiddleware({ contextWindow: -1 })).toThrow(CompactionError);
    expect(() => aiSdkMiddleware({ window: 5 } as never)).toThrow('`window`');
    expect(() => aiSdkMiddleware({ conversation: 'one' } as never)).toThrow('`conversation`');
    expect(() => aiSdkMiddleware({ summary: { send: 5 } } as never)).toThrow('`summary.send`');
    expect(() => aiSdkMiddleware()).not.toThrow();
  });

  it('compacts call options by hand where the summary has somewhere to go', async () => {
    const prompt: LanguageModelV3CallOptions['prompt'] = [
      { role: 'user', content: [{ type: 'text', text: 'hello '.repeat(500) }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] },
    ];
    const { middleware } = start(() => says('Hi.'));
    await expect(middleware.compactor.compact({ prompt })).rejects.toMatchObject({ code: 'invalid-options' });
    const other = startModel(() => says('Hi.'));
    const { middleware: able } = start(() => says('Hi.'), {
      summary: { send: (callOptions: LanguageModelV3CallOptions) => other.inner.doGenerate(callOptions) },
    });
    const { request } = await able.compactor.compact({ prompt });
    expect(request.prompt).toEqual([{ role: 'user', content: [{ type: 'text', text: goodSummary }] }]);
  });
});
