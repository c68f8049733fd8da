import { type GenerateRequest, GenkitError, generateMiddleware, genkit, type MessageData, z } from 'genkit';
import { genkit as genkitBeta } from 'genkit/beta';
import { describe, expect, it } from 'vitest';
import type { CompactionEvent } from '../../src/events.ts';
import {
  type GenkitMiddleware,
  type GenkitMiddlewareOptions,
  type GenkitReply,
  type GenkitRequest,
  genkitMiddleware,
} from '../../src/frameworks/genkit.ts';
import { defineReader, defineScriptedModel, type GenkitAnswer, reads, said } from '../support/genkit-model.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';
import { countTokens, goodSummary } from '../support/scripted-model.ts';

const ai = genkit({});
let names = 0;

/** A model, a tool and a middleware over a window of a few pages. */
function start(options: GenkitMiddlewareOptions<GenkitRequest, GenkitReply> = {}) {
  const name = `world_${++names}`;
  const events: CompactionEvent[] = [];
  const { tool, pages } = defineReader(ai, `read_${names}`);
  const read = (page: number, ref?: string) => reads(`read_${name.slice('world_'.length)}`, page, ref);
  const compacting = genkitMiddleware({
    contextWindow: 20_000,
    budget: { threshold: 6000, countTokens },
    onEvent: (event) => void events.push(event),
    ...options,
  });
  const define = (script: { turns?: GenkitAnswer[]; summaries?: GenkitAnswer[]; supports?: object } = {}) =>
    defineScriptedModel(ai, `test/${name}`, script);
  return { events, tool, pages, read, compacting, define };
}

const prompt = 'Read the log. Why did a request fail?';
const pagesFrom = (read: (page: number, ref?: string) => object, count: number) =>
  Array.from({ length: count }, (_, index) => said({ text: `Page ${index}.` }, read(index, `call_${index}`)));

describe('ai.generate with the middleware', () => {
  it('compacts in the middle of its tool loop, and the loop goes on', async () => {
    const { events, tool, pages, read, compacting, define } = start();
    const { model, calls, summaries, turns } = define({ turns: pagesFrom(read, 11) });
    const response = await ai.generate({ model, system: 'Be exact.', prompt, tools: [tool], maxTurns: 20, use: [compacting] });
    expect(response.text).toBe('Done.');
    expect(pages).toEqual(Array.from({ length: 11 }, (_, page) => page));
    expect(turns()).toHaveLength(12);
    expect(summaries().length).toBeGreaterThan(1);
    expect(lifecycleOf(events)).toEqual(summaries().flatMap(() => ['started', 'applied']));
    expect(noticesOf(events)).toEqual([]);
    for (const { violations } of calls) expect(violations).toEqual([]);
    for (const { request } of turns()) {
      expect(request.messages[0]).toEqual({ role: 'system', content: [{ text: 'Be exact.' }] });
      expect(JSON.stringify(request.messages).split(prompt)).toHaveLength(2);
      expect(countTokens(JSON.stringify(request.messages))).toBeLessThan(8000);
    }
    // The newest call and its result came after the replacement, as they are.
    expect(turns().at(-1)?.request.messages.slice(-2)).toMatchObject([
      { role: 'model', content: [{ text: 'Page 10.' }, read(10, 'call_10')] },
      { role: 'tool', content: [{ toolResponse: { ref: 'call_10' } }] },
    ]);
  });

  it('asks for the summary with the request of the parent, tools forbidden, and one message', async () => {
    const { tool, read, compacting, define } = start();
    const { model, calls, summaries } = define({ turns: pagesFrom(read, 6) });
    await ai.generate({ model, prompt, tools: [tool], config: { temperature: 0.3 }, maxTurns: 20, use: [compacting] });
    const [summary] = summaries();
    const parent = calls[calls.indexOf(summary as never) - 1]?.request;
    expect(summary?.request.tools).toEqual(parent?.tools);
    expect(summary?.request.toolChoice).toBe('none');
    expect(summary?.request.config).toEqual({ temperature: 0.3, maxOutputTokens: expect.any(Number) });
    expect(summary?.request.messages.slice(0, parent?.messages.length)).toEqual(parent?.messages);
    // The parent's reply, its results and the instruction.
    expect(summary?.request.messages.length).toBe((parent?.messages.length ?? 0) + 3);
  });

  it('B111: gives its caller the whole conversation, which can be gone on with', async () => {
    const { events, tool, read, compacting, define } = start();
    const { model, summaries, turns } = define({ turns: [...pagesFrom(read, 8), said({ text: 'Because of page 3.' })] });
    const first = await ai.generate({ model, prompt, tools: [tool], maxTurns: 20, use: [compacting] });
    expect(first.messages).toHaveLength(18);
    expect(JSON.stringify(first.messages)).not.toContain('compacted_context');
    const before = summaries().length;
    const second = await ai.generate({
      model,
      messages: first.messages,
      prompt: 'Thanks. And now?',
      tools: [tool],
      use: [compacting],
    });
    expect(second.messages).toHaveLength(20);
    expect(summaries().length - before).toBeLessThanOrEqual(1);
    const sent = turns().at(-1)?.request.messages ?? [];
    expect(sent.length).toBeLessThan(10);
    expect(JSON.stringify(sent)).toContain('Thanks. And now?');
    expect(events.filter(({ type }) => type === 'auto_compaction_failed')).toEqual([]);
  });

  it('pairs parallel calls without references, before and behind a compaction', async () => {
    const { tool, pages, read, compacting, define } = start();
    const steps = Array.from({ length: 6 }, (_, step) => said(read(2 * step), read(2 * step + 1)));
    const { model, calls, summaries } = define({ turns: steps });
    await ai.generate({ model, prompt, tools: [tool], maxTurns: 20, use: [compacting] });
    expect(pages).toHaveLength(12);
    expect(summaries().length).toBeGreaterThan(0);
    for (const { violations } of calls) expect(violations).toEqual([]);
  });

  it('denies tools to a summary without running them', async () => {
    const { events, tool, pages, read, compacting, define } = start();
    const { model, calls, summaries } = define({
      turns: pagesFrom(read, 3),
      summaries: [said({ text: 'First I' }, read(99, 'c'), read(98))],
    });
    await ai.generate({ model, prompt, tools: [tool], maxTurns: 20, use: [compacting] });
    expect(pages).toEqual([0, 1, 2]);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(summaries()).toHaveLength(2);
    for (const { violations } of calls) expect(violations).toEqual([]);
  });

  it('serves many conversations at once, each with its own summary', async () => {
    const { tool, read, compacting, define } = start();
    const page = (call: { request: GenerateRequest }) => JSON.stringify(call.request.messages).split('toolRequest').length - 1;
    const { model, calls, summaries } = define({
      turns: Array.from(
        { length: 100 },
        () => (call) => (page(call) < 4 ? said(read(page(call), `c${page(call)}`)) : said({ text: 'Done.' })),
      ),
      summaries: Array.from(
        { length: 20 },
        () =>
          ({ request }) =>
            said({ text: `## Goal\n${/Topic \d/.exec(JSON.stringify(request))?.[0]}` }),
      ),
    });
    const topics = Array.from({ length: 5 }, (_, topic) => `Topic ${topic}`);
    await Promise.all(
      topics.map((topic) => ai.generate({ model, prompt: topic, tools: [tool], maxTurns: 20, use: [compacting] })),
    );
    expect(summaries().length).toBeGreaterThanOrEqual(5);
    for (const { request } of calls) expect(new Set(JSON.stringify(request.messages).match(/Topic \d/g)).size).toBe(1);
  });

  it('passes the error of a turn through, and one of a summary by', async () => {
    const overloaded = () => Promise.reject(new GenkitError({ status: 'UNAVAILABLE', message: '503 overloaded' }));
    const invalid = new GenkitError({ status: 'INVALID_ARGUMENT', message: '400 wrong' });
    const { events, tool, read, compacting, define } = start({ summary: { retries: 0 } });
    const { model } = define({ turns: [...pagesFrom(read, 3), () => Promise.reject(invalid)], summaries: [overloaded] });
    const outcome = ai.generate({ model, prompt, tools: [tool], maxTurns: 20, use: [compacting] });
    await expect(outcome).rejects.toBe(invalid);
    expect(lifecycleOf(events)).toEqual(['started', 'failed: summarizer-failed']);
  });

  it('tries a busy model again for a summary', async () => {
    const busy = () =>
      Promise.reject(
        new GenkitError({ status: 'RESOURCE_EXHAUSTED', message: '429 slow', responseMetadata: { retryAfterMs: 5 } }),
      );
    const { events, tool, read, compacting, define } = start();
    const { model, summaries } = define({ turns: pagesFrom(read, 3), summaries: [busy] });
    await ai.generate({ model, prompt, tools: [tool], maxTurns: 20, use: [compacting] });
    expect(summaries()).toHaveLength(2);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  });

  it.each([
    ['blocked', { finishReason: 'blocked', finishMessage: 'safety' }, 'refused'],
    ['cut', { ...said({ text: '## Goal\nHalf' }), finishReason: 'unknown' }, 'incomplete-reply'],
    ['blank', said({ text: ' ' }), 'empty-summary'],
    ['made of thoughts alone', said({ reasoning: 'Hm.' }), 'empty-summary'],
  ] as const)('keeps the history where the summary is %s', async (_, summary, code) => {
    const { events, tool, read, compacting, define } = start({ summary: { retries: 0 } });
    const { model, turns } = define({
      turns: pagesFrom(read, 3),
      summaries: Array.from({ length: 3 }, () => summary) as GenkitAnswer[],
    });
    const { text } = await ai.generate({ model, prompt, tools: [tool], maxTurns: 20, use: [compacting] });
    expect(text).toBe('Done.');
    expect(lifecycleOf(events)).toEqual(['started', `failed: ${code}`]);
    expect(JSON.stringify(turns().at(-1)?.request.messages)).not.toContain('compacted_context');
  });

  it('ends with the reason of an abort in the middle of a summary', async () => {
    const controller = new AbortController();
    const { events, tool, read, compacting, define } = start();
    const reason = new Error('The user left.');
    const { model, summaries, turns } = define({
      turns: pagesFrom(read, 3),
      summaries: [
        ({ signal }) =>
          new Promise((_, reject) => {
            // As the plugins do it: the abort comes as an error of their own.
            signal.addEventListener('abort', () =>
              reject(new GenkitError({ status: 'UNKNOWN', message: 'Request was aborted.' })),
            );
            controller.abort(reason);
          }),
      ],
    });
    const outcome = ai.generate({
      model,
      prompt,
      tools: [tool],
      maxTurns: 20,
      use: [compacting],
      abortSignal: controller.signal,
    });
    await expect(outcome).rejects.toBe(reason);
    expect(summaries()[0]?.signal.aborted).toBe(true);
    expect(turns()).toHaveLength(3);
    expect(lifecycleOf(events)).toEqual(['started', 'cancelled by parent']);
  });

  it('goes on where the compaction alone is cancelled', async () => {
    const { events, tool, read, compacting, define } = start({
      onEvent: (event) => {
        events.push(event);
        if (event.type === 'auto_compaction_started') setTimeout(event.cancel, 5);
      },
    });
    const { model } = define({ turns: pagesFrom(read, 3), summaries: [() => new Promise<never>(() => {})] });
    const { text } = await ai.generate({ model, prompt, tools: [tool], maxTurns: 20, use: [compacting] });
    expect(text).toBe('Done.');
    expect(lifecycleOf(events)).toEqual(['started', 'cancelled by child']);
  });

  it('waits for the answer to an interrupt, and goes on behind it', async () => {
    const { events, compacting } = start();
    const beta = genkitBeta({});
    const { tool } = defineReader(beta, 'read');
    const ask = beta.defineInterrupt({ name: 'ask', description: 'Asks.', inputSchema: z.object({}), outputSchema: z.string() });
    const read = (page: number, ref?: string) => reads('read', page, ref);
    const question = { toolRequest: { name: 'ask', ref: 'q', input: {} } };
    const { model, calls } = defineScriptedModel(beta, 'test/beta', {
      turns: [...pagesFrom(read, 3), said(question, read(9, 'r'))],
    });
    const first = await beta.generate({ model, prompt, tools: [tool, ask], maxTurns: 20, use: [compacting] });
    expect(first.finishReason).toBe('interrupted');
    const [interrupt] = first.interrupts;
    if (!interrupt) throw new Error('Expected a question.');
    const second = await beta.generate({
      model,
      messages: first.messages,
      tools: [tool, ask],
      resume: { respond: [ask.respond(interrupt, 'yes')] },
      use: [compacting],
    });
    expect(second.text).toBe('Done.');
    for (const { violations } of calls) expect(violations).toEqual([]);
    expect(JSON.stringify(calls.at(-1)?.request.messages.at(-1))).toContain('"output":"yes"');
    expect(events.filter(({ type }) => type === 'auto_compaction_failed')).toEqual([]);
  });

  it('leaves documents and a format of the parent out of the summary request, and says so', async () => {
    const { events, tool, read, compacting, define } = start();
    const { model, summaries, turns } = define({ turns: [...pagesFrom(read, 3), said({ text: '{"cause":"page 3"}' })] });
    const { output } = await ai.generate({
      model,
      system: 'Be exact.',
      prompt,
      docs: [{ content: [{ text: 'The manual says: restart.' }] }],
      output: { schema: z.object({ cause: z.string() }) },
      tools: [tool],
      maxTurns: 20,
      use: [compacting],
    });
    expect(output).toEqual({ cause: 'page 3' });
    expect(noticesOf(events)).toEqual(['prefix-changed']);
    const [summary] = summaries();
    expect(summary?.request).not.toHaveProperty('docs');
    expect(JSON.stringify(summary?.request.messages.at(-1))).not.toContain('The manual says');
    // Documents and instructions are in every turn, once.
    for (const { request } of turns()) {
      expect(JSON.stringify(request.messages).split('The manual says')).toHaveLength(2);
      expect(JSON.stringify(request.messages).split('"purpose":"output"')).toHaveLength(2);
    }
  });
});

describe('ai.generateStream with the middleware', () => {
  it('streams to its caller what it would stream without, and nothing of the summary', async () => {
    const collect = async (use: boolean) => {
      const { tool, read, compacting, define } = start();
      const { model, summaries, turns } = define({
        turns: pagesFrom(read, 8),
        summaries: Array.from({ length: 4 }, () => said({ reasoning: 'PRIVATE' }, { text: 'PRIVATE summary' })),
      });
      const { stream, response } = ai.generateStream({
        model,
        prompt,
        tools: [tool],
        maxTurns: 20,
        use: use ? [compacting] : [],
      });
      const chunks: unknown[] = [];
      for await (const { role, index, text } of stream) chunks.push({ role, index, text });
      return { chunks, summaries: summaries(), turns: turns(), text: (await response).text };
    };
    const compacted = await collect(true);
    expect(compacted.summaries.length).toBeGreaterThan(0);
    expect(compacted.summaries.every(({ isStreamed }) => isStreamed)).toBe(true);
    expect(compacted.turns.every(({ isStreamed }) => isStreamed)).toBe(true);
    expect(JSON.stringify(compacted.chunks)).not.toContain('PRIVATE');
    const plain = await collect(false);
    expect(compacted.chunks).toEqual(plain.chunks);
    expect(compacted.text).toBe(plain.text);
  });

  it('ends with the reason of an abort', async () => {
    const controller = new AbortController();
    const { tool, read, compacting, define } = start();
    const { model } = define({
      turns: pagesFrom(read, 3),
      summaries: [() => new Promise<never>(() => controller.abort('enough'))],
    });
    const { stream, response } = ai.generateStream({
      model,
      prompt,
      tools: [tool],
      maxTurns: 20,
      use: [compacting],
      abortSignal: controller.signal,
    });
    response.catch(() => {});
    const drain = async () => {
      for await (const _ of stream);
    };
    await expect(drain()).rejects.toBe('enough');
    await expect(response).rejects.toBe('enough');
  });
});

describe('where Genkit takes the middleware', () => {
  const history = (): MessageData[] => [
    { role: 'user', content: [{ text: 'x'.repeat(30_000) }] },
    { role: 'model', content: [{ text: 'Read.' }] },
  ];

  it.each([
    [
      'a definition',
      (compacting: GenkitMiddleware<GenkitRequest, GenkitReply>) =>
        generateMiddleware({ name: `own_${names}` }, () => ({ model: compacting }))(),
    ],
    ['a function', (compacting: GenkitMiddleware<GenkitRequest, GenkitReply>) => compacting],
  ])('as %s', async (_, wrap) => {
    const { events, compacting, define } = start();
    const { model, turns } = define();
    await ai.generate({ model, messages: history(), prompt, use: [wrap(compacting)] });
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(turns()[0]?.request.messages).toHaveLength(1);
  });

  it('at a model, for whoever calls it, and at a prompt', async () => {
    const { events, compacting } = start();
    const sent: number[] = [];
    const model = ai.defineModel({ name: `own/${names}`, apiVersion: 'v2', use: [compacting] }, async ({ messages }) => {
      sent.push(messages.length);
      return said({ text: goodSummary });
    });
    await model({ messages: [...history(), { role: 'user', content: [{ text: prompt }] }] });
    expect(sent).toEqual([4, 1]);
    const { define, compacting: other, events: others } = start();
    const { model: plain } = define();
    const asking = ai.definePrompt({ name: `prompt_${names}`, model: plain, prompt, use: [other] });
    await asking(undefined, { messages: history() });
    expect([lifecycleOf(events), lifecycleOf(others)]).toEqual([
      ['started', 'applied'],
      ['started', 'applied'],
    ]);
  });

  it('beside others, which see what it makes of a request', async () => {
    const { compacting, define } = start();
    const { model } = define();
    const seen: number[] = [];
    await ai.generate({
      model,
      messages: history(),
      prompt,
      use: [
        compacting,
        async (request: GenerateRequest, next: (request: GenerateRequest) => Promise<unknown>) => {
          seen.push(request.messages.length);
          return next(request);
        },
      ],
    });
    expect(seen).toEqual([4, 1]);
  });

  it('with another model for the summary', async () => {
    const cheap = start().define();
    const { define } = start();
    const { model, summaries, turns } = define();
    const compacting = genkitMiddleware({
      contextWindow: 20_000,
      budget: { threshold: 6000, countTokens },
      summary: { send: (request: GenerateRequest, { signal }) => cheap.model(request, { abortSignal: signal }) },
    });
    await ai.generate({ model, messages: history(), prompt, use: [compacting] });
    expect([summaries().length, cheap.summaries().length]).toEqual([0, 1]);
    expect(turns()[0]?.request.messages).toHaveLength(1);
  });
});
