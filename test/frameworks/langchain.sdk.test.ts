import { RunnableLambda } from '@langchain/core/runnables';
import { MemorySaver } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import {
  AIMessage,
  createAgent,
  createMiddleware,
  HumanMessage,
  initChatModel,
  providerStrategy,
  SystemMessage,
  ToolMessage,
  tool,
  toolStrategy,
} from 'langchain';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { CompactionEvent } from '../../src/events.ts';
import { type LangchainMiddlewareOptions, langchainMessages, langchainMiddleware } from '../../src/frameworks/langchain.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';
import {
  isSummary,
  type LangchainServer,
  messagesOf,
  type SentBody,
  startLangchainServer,
  type Words,
} from '../support/langchain-server.ts';
import { countTokens } from '../support/scripted-model.ts';

const messageClasses = { HumanMessage, AIMessage, ToolMessage, SystemMessage };
const question = 'Read the log. Why did a request fail?';

let server: LangchainServer;
let events: CompactionEvent[];
let pages: number[];
const read = tool(
  async ({ page }: { page: number }) => {
    pages.push(page);
    return `page ${page}: ${'nothing happened. '.repeat(700)}`;
  },
  { name: 'read', description: 'Reads a page.', schema: z.object({ page: z.number() }) },
);

beforeAll(async () => {
  server = await startLangchainServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.bodies.length = 0;
  server.violations.length = 0;
  server.script.turns = work(7);
  server.script.summaries = [];
  events = [];
  pages = [];
});

function work(steps: number, thread = 'a'): Words[] {
  return [
    ...Array.from({ length: steps }, (_, page) => ({
      text: 'Next.',
      calls: [{ id: `call_${thread}_${page}`, name: 'read', input: { page } }],
    })),
    { text: 'The certificate expired.' },
  ];
}

function chat(fields: object = {}): ChatOpenAI {
  return new ChatOpenAI({
    model: 'gpt-5',
    apiKey: 'test',
    maxRetries: 0,
    configuration: { baseURL: `${server.url}/v1` },
    ...fields,
  });
}

function compacting(options: Partial<LangchainMiddlewareOptions> = {}) {
  return langchainMiddleware({
    messageClasses,
    contextWindow: 20_000,
    budget: { threshold: 6000, countTokens },
    onEvent: (event) => void events.push(event),
    ...options,
  });
}

/** Events of this type. */
function eventsOf<Type extends CompactionEvent['type']>(type: Type) {
  return events.filter((event): event is Extract<CompactionEvent, { type: Type }> => event.type === type);
}

/** A call of the tool that stands for a structured response: LangChain numbers them. */
function named(body: SentBody, words: Words): Words {
  const names = (body.tools ?? []).map((given) => Reflect.get(Reflect.get(given, 'function'), 'name'));
  return { ...words, ...(words.calls && { calls: words.calls.map((call) => ({ ...call, name: names.at(-1) })) }) };
}

const start = { messages: [new HumanMessage(question)] };

describe.each([{ useResponsesApi: false }, { useResponsesApi: true }])('an agent over ChatOpenAI %o', (wire) => {
  const agentWith = (options: object = {}) =>
    createAgent({ model: chat(wire), tools: [read], systemPrompt: 'Be exact.', middleware: [compacting()], ...options });

  it('is compacted in the middle of its tool loop, with requests that OpenAI takes', async () => {
    const { messages } = await agentWith().invoke(start);
    expect(messages.at(-1)?.text).toBe('The certificate expired.');
    expect(server.violations).toEqual([]);
    expect(noticesOf(events)).toEqual([]);
    expect(lifecycleOf(events)).toEqual(['started', 'applied', 'started', 'applied', 'started', 'applied']);
    expect(pages).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(server.turns()).toHaveLength(8);
    expect(server.summaries()).toHaveLength(3);
    // The state of the agent is whole, and knows of no summary.
    expect(messages).toHaveLength(16);
    expect(JSON.stringify(messages)).not.toContain('Ship it.');
  });

  it('is asked for a summary with the bytes of the request before it', async () => {
    await agentWith().invoke(start);
    let asked = 0;
    for (const [index, body] of server.bodies.entries()) {
      const parent = server.bodies[index - 1];
      if (!isSummary(body) || !parent) continue;
      asked++;
      const prefix = messagesOf(parent);
      expect(JSON.stringify(body.tools)).toBe(JSON.stringify(parent.tools));
      expect(JSON.stringify(messagesOf(body).slice(0, prefix.length))).toBe(JSON.stringify(prefix));
      expect(body.tool_choice).toBe(wire.useResponsesApi ? undefined : 'none');
    }
    expect(asked).toBe(3);
  });

  it('goes on where a model calls tools in place of a summary', async () => {
    const call = (id: string, page: number) => ({ id, name: 'read', input: { page } });
    server.script.summaries = [{ text: 'I will look.', calls: [call('call_x', 98), call('call_y', 99)] }];
    await agentWith().invoke(start);
    expect(server.violations).toEqual([]);
    expect(pages).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(server.summaries()).toHaveLength(4);
    expect(JSON.stringify(server.summaries()[1])).toContain('Tool calls are disabled during compaction');
  });

  it('refuses a summary that was cut, and goes on with its whole history', async () => {
    const cut = { text: '## Goal', finish: wire.useResponsesApi ? 'max_output_tokens' : 'length' };
    server.script.summaries = [cut, cut, cut, cut];
    server.script.turns = work(3);
    const { messages } = await agentWith().invoke(start);
    expect(messages.at(-1)?.text).toBe('The certificate expired.');
    expect(lifecycleOf(events)).toEqual(Array.from({ length: 2 }, () => ['started', 'failed: truncated-summary']).flat());
    expect(server.turns().map((body) => messagesOf(body).length)).toEqual(wire.useResponsesApi ? [2, 5, 8, 11] : [2, 4, 6, 8]);
  });

  it.each(['messages', 'updates', 'values', 'tasks'] as const)('shows no summary in the stream of %s', async (streamMode) => {
    let streamed = '';
    for await (const chunk of await agentWith().stream(start, { streamMode })) streamed += JSON.stringify(chunk);
    expect(lifecycleOf(events).filter((type) => type === 'applied').length).toBeGreaterThan(1);
    expect(server.violations).toEqual([]);
    expect(streamed.includes('nothing happened')).toBe(true);
    expect(streamed.includes('Ship it.')).toBe(false);
    expect(streamed.includes('context compaction request')).toBe(false);
  });
});

/** What a model said, in events of whatever version. */
function saidIn(event: { event?: string; data?: Record<string, unknown>; method?: string }): string {
  if (event.method !== undefined) return JSON.stringify(event);
  const { chunk, output } = event.data ?? {};
  return /^on_(llm|chat_model)_(stream|end)$/.test(event.event ?? '') ? JSON.stringify([chunk, output]) : '';
}

describe('the events of an agent', () => {
  it.each(['v1', 'v2', 'v3'] as const)('tell nothing of the private call, in version %s', async (version) => {
    const agent = createAgent({ model: chat(), tools: [read], middleware: [compacting()] });
    let said = '';
    let told = '';
    // The types know of the versions one by one.
    const run = agent.streamEvents(start, { version: version as 'v2' });
    for await (const event of await run) {
      said += saidIn(event);
      told += JSON.stringify(event);
    }
    expect(lifecycleOf(events).filter((type) => type === 'applied').length).toBeGreaterThan(1);
    expect(said.includes('certificate')).toBe(true);
    expect(said.includes('Ship it.')).toBe(false);
    expect(told.includes('context compaction request')).toBe(false);
  });

  it('tell the callbacks of the model itself what the private call is for', async () => {
    const told: { tags: unknown; metadata: unknown }[] = [];
    const callbacks = [
      {
        handleChatModelStart: (...args: unknown[]) => void told.push({ tags: args[5], metadata: args[6] }),
      },
    ];
    await createAgent({ model: chat({ callbacks }), tools: [read], middleware: [compacting()] }).invoke(start);
    const mine = told.filter(({ metadata }) => JSON.stringify(metadata).includes('"lc_source":"context-compactor"'));
    expect(mine).toHaveLength(server.summaries().length);
    // By such a tag whoever streams knows to leave a call out.
    for (const { tags } of mine) expect(tags).toContain('nostream');
    expect(told).toHaveLength(server.bodies.length);
  });
});

describe('conversations of an agent with a checkpointer', () => {
  const ask = (text: string, thread_id: string): [{ messages: HumanMessage[] }, object] => [
    { messages: [new HumanMessage(text)] },
    { configurable: { thread_id } },
  ];

  it('go on over several turns, the replacement in place', async () => {
    const agent = createAgent({ model: chat(), tools: [read], middleware: [compacting()], checkpointer: new MemorySaver() });
    await agent.invoke(...ask(question, 'one'));
    const asked = server.summaries().length;
    server.bodies.length = 0;
    server.script.turns = [{ text: 'It was renewed.' }];
    const { messages } = await agent.invoke(...ask('Was it renewed?', 'one'));
    expect(messages).toHaveLength(18);
    expect(server.bodies).toHaveLength(1);
    const [body] = server.turns();
    expect(JSON.stringify(body).match(/<compacted_context>/g)).toHaveLength(1);
    expect(messagesOf(body ?? { model: '' }).at(-1)?.content).toBe('Was it renewed?');
    expect(asked).toBe(3);
    expect(events.every(({ conversation }) => conversation === 'one')).toBe(true);
    expect(server.violations).toEqual([]);
  });

  it('are kept apart, also at the same time', async () => {
    const middleware = compacting();
    const agent = createAgent({ model: chat(), tools: [read], middleware: [middleware], checkpointer: new MemorySaver() });
    const scripts = { alpha: work(7, 'alpha'), beta: work(7, 'beta') };
    server.script.turns = Array.from({ length: 16 }, () => (body) => {
      const thread = JSON.stringify(body).includes('alpha') ? 'alpha' : 'beta';
      return scripts[thread].shift() ?? { text: 'Done.' };
    });
    const [first, second] = await Promise.all([
      agent.invoke(...ask('Read alpha.', 'a')),
      agent.invoke(...ask('Read beta.', 'b')),
    ]);
    for (const { messages } of [first, second]) expect(messages).toHaveLength(16);
    for (const body of server.bodies) {
      const text = JSON.stringify(body);
      expect([text.includes('alpha'), text.includes('beta')].filter(Boolean)).toHaveLength(1);
    }
    expect(new Set(events.map(({ conversation }) => conversation))).toEqual(new Set(['a', 'b']));
    expect(server.violations).toEqual([]);
    expect(middleware.compactor.estimate({ messages: first.messages }, { conversation: 'a' }).tokens).toBeGreaterThan(0);
  });

  it('of an agent inside of another are told apart by their content', async () => {
    const middleware = compacting();
    const inner = createAgent({ model: chat(), tools: [read], name: 'reader', middleware: [middleware] });
    const delegate = tool(
      async ({ task }: { task: string }) =>
        (await inner.invoke({ messages: [new HumanMessage(task)] })).messages.at(-1)?.text ?? '',
      { name: 'delegate', schema: z.object({ task: z.string() }) },
    );
    const outer = createAgent({ model: chat(), tools: [delegate], middleware: [middleware], checkpointer: new MemorySaver() });
    server.script.turns = [
      { calls: [{ id: 'call_d', name: 'delegate', input: { task: question } }] },
      ...work(7),
      { text: 'Delegated.' },
    ];
    const { messages } = await outer.invoke(...ask('Find out.', 'one'));
    expect(messages.map(({ text }) => text)).toEqual(['Find out.', '', 'The certificate expired.', 'Delegated.']);
    expect(lifecycleOf(events)).toEqual(['started', 'applied', 'started', 'applied', 'started', 'applied']);
    expect(new Set(events.map(({ conversation }) => conversation))).toEqual(new Set([undefined]));
  });
});

describe('an agent that is asked for more than text', () => {
  const verdict = z.object({ cause: z.string() });

  const options = () => ({ model: chat({ supportsStrictToolCalling: true }), tools: [read], middleware: [compacting()] });
  const call = { id: 'call_v', name: 'extract', input: { cause: 'expired' } };

  it.each([
    [
      'of the provider',
      () => createAgent({ ...options(), responseFormat: providerStrategy(verdict) }),
      { text: '{"cause":"expired"}' },
    ],
    ['of a tool', () => createAgent({ ...options(), responseFormat: toolStrategy(verdict) }), { calls: [call] }],
  ])('gives its structured response by way %s, and its summary is prose', async (_way, make, last) => {
    const steps = work(4)
      .slice(0, -1)
      .map(({ calls = [] }) => ({ calls })); // what has a format says nothing else
    server.script.turns = [...steps, (body) => named(body, last)];
    const agent = make();
    const { structuredResponse } = await agent.invoke(start);
    expect(structuredResponse).toEqual({ cause: 'expired' });
    expect(server.violations).toEqual([]);
    for (const body of server.summaries()) {
      expect(body).not.toHaveProperty('response_format');
      expect(body.tool_choice).toBe('none');
    }
    const applied = eventsOf('auto_compaction_applied');
    expect(applied.length).toBeGreaterThan(0);
    for (const event of applied) expect(event).toMatchObject({ prefix: 'changed', because: ['responseFormat'] });
  });

  it('is compacted alike where its model writes standard content', async () => {
    const agent = createAgent({ model: chat({ outputVersion: 'v1' }), tools: [read], middleware: [compacting()] });
    const { messages } = await agent.invoke(start);
    expect(messages.at(-1)?.text).toBe('The certificate expired.');
    expect(lifecycleOf(events)).toEqual(['started', 'applied', 'started', 'applied', 'started', 'applied']);
    expect(server.violations).toEqual([]);
  });
});

describe('the model of an agent', () => {
  const fields = () => ({ apiKey: 'test', maxRetries: 0, configuration: { baseURL: `${server.url}/v1` } });

  it.each([
    ['made when it is called', () => initChatModel('openai:gpt-5', fields())],
    ['with settings bound to it', () => chat().withConfig({ tags: ['mine'], stop: ['Goal'], promptCacheKey: 'k' })],
  ])('is asked for the summary where it is %s', async (_kind, make) => {
    const model = await make();
    const agent = createAgent({ model, tools: [read], middleware: [compacting()] });
    await agent.invoke(start);
    expect(lifecycleOf(events)).toEqual(['started', 'applied', 'started', 'applied', 'started', 'applied']);
    expect(server.violations).toEqual([]);
    for (const body of server.summaries()) {
      expect(body).toMatchObject({ model: 'gpt-5', tool_choice: 'none' });
      expect(body).not.toHaveProperty('stop');
    }
    const keyOf = (body: SentBody | undefined): unknown => Reflect.get(body ?? {}, 'prompt_cache_key');
    expect(keyOf(server.summaries()[0])).toBe(keyOf(server.turns()[0]));
    expect(new Set(server.bodies.map(({ tools }) => JSON.stringify(tools))).size).toBe(1);
  });

  it('is the one that another middleware has chosen, with its settings', async () => {
    const choosing = createMiddleware({
      name: 'Choosing',
      wrapModelCall: (request, handler) =>
        handler({
          ...request,
          model: chat({ model: 'gpt-4.1' }),
          modelSettings: { promptCacheKey: 'k', stop: ['never'] },
          systemPrompt: 'Be quick.',
        }),
    });
    await createAgent({ model: chat(), tools: [read], systemPrompt: 'Be exact.', middleware: [choosing, compacting()] }).invoke(
      start,
    );
    expect(server.violations).toEqual([]);
    for (const body of server.bodies) {
      expect(body).toMatchObject({ model: 'gpt-4.1', prompt_cache_key: 'k' });
      expect(JSON.stringify(messagesOf(body)[0])).toContain('Be quick.');
    }
    for (const body of server.summaries()) expect(body).not.toHaveProperty('stop');
    expect(server.turns()[0]).toHaveProperty('stop');
  });

  it('cannot be asked where it is no chat model, and the agent goes on', async () => {
    const model = chat().pipe(RunnableLambda.from((message: AIMessage) => message));
    server.script.turns = work(3);
    const { messages } = await createAgent({ model, tools: [read], middleware: [compacting()] }).invoke(start);
    expect(messages.at(-1)?.text).toBe('The certificate expired.');
    const [failed] = eventsOf('auto_compaction_failed');
    expect(failed?.error.message).toContain('summary.send');
  });
});

describe('an agent whose summary cannot be had', () => {
  it('goes on with its whole history where the provider fails', async () => {
    server.script.summaries = Array.from({ length: 20 }, () => ({ status: 500, error: { message: 'down' } }));
    server.script.turns = work(3);
    const agent = createAgent({ model: chat(), tools: [read], middleware: [compacting({ summary: { retries: 0 } })] });
    const { messages } = await agent.invoke(start);
    expect(messages.at(-1)?.text).toBe('The certificate expired.');
    expect(lifecycleOf(events)).toEqual(Array.from({ length: 2 }, () => ['started', 'failed: summarizer-failed']).flat());
    expect(server.turns().map((body) => messagesOf(body).length)).toEqual([1, 3, 5, 7]);
  });

  it('stops at once when it is aborted, for the reason given', async () => {
    server.script.summaries = ['hang'];
    const controller = new AbortController();
    const middleware = compacting({
      onEvent(event) {
        events.push(event);
        if (event.type === 'auto_compaction_started') setTimeout(() => controller.abort(new Error('enough')), 50);
      },
    });
    const agent = createAgent({ model: chat(), tools: [read], middleware: [middleware] });
    await expect(agent.invoke(start, { signal: controller.signal })).rejects.toThrow();
    expect(lifecycleOf(events)).toEqual(['started', 'cancelled by parent']);
    expect(server.turns()).toHaveLength(2);
  });

  it('hands on what the provider says to a turn that is too long', async () => {
    const message = "This model's maximum context length is 128000 tokens.";
    server.script.turns = [{ status: 400, error: { message, code: 'context_length_exceeded', type: 'invalid_request_error' } }];
    const agent = createAgent({ model: chat(), tools: [read], middleware: [compacting()] });
    const error: unknown = await agent.invoke(start).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'ContextOverflowError' });
    expect(langchainMessages(messageClasses).classifyError(error)).toEqual({ kind: 'overflow', limit: 128_000 });
  });
});
