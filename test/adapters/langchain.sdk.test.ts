import { AIMessage, AIMessageChunk, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { langchainMessages } from '../../src/adapters/langchain.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import type { SendContext } from '../../src/options.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';
import { type LangchainServer, messagesOf, startLangchainServer, type Words } from '../support/langchain-server.ts';
import { countTokens } from '../support/scripted-model.ts';

const adapter = langchainMessages({ HumanMessage, AIMessage, ToolMessage, SystemMessage });
const tools = [
  {
    type: 'function' as const,
    function: {
      name: 'read',
      description: 'Reads a page.',
      parameters: { type: 'object', properties: { page: { type: 'number' } } },
    },
  },
];
const page = `a page: ${'nothing happened. '.repeat(700)}`;

let server: LangchainServer;
let events: CompactionEvent[];
beforeAll(async () => {
  server = await startLangchainServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.bodies.length = 0;
  server.violations.length = 0;
  server.script.turns = work(6);
  server.script.summaries = [];
  events = [];
});

function work(steps: number): Words[] {
  const calls = (step: number) => [0, 1].map((place) => ({ id: `call_${step}_${place}`, name: 'read', input: { page: step } }));
  return [...Array.from({ length: steps }, (_, step) => ({ calls: calls(step) })), { text: 'The certificate expired.' }];
}

const chat = (fields: object = {}) =>
  new ChatOpenAI({ model: 'gpt-5', apiKey: 'test', maxRetries: 0, configuration: { baseURL: `${server.url}/v1` }, ...fields });
const options = () => ({
  adapter,
  contextWindow: 20_000,
  budget: { threshold: 8000, countTokens },
  onEvent: (event: CompactionEvent) => void events.push(event),
});

describe.each([{ useResponsesApi: false }, { useResponsesApi: true }])('a loop around model.invoke %o', (wire) => {
  it.each([false, true])('keeps its own messages, and is compacted as it goes, streamed: %s', async (isStreamed) => {
    const model = chat(wire).bindTools(tools);
    const invoke = withAutoCompaction(
      ({ messages }: { messages: BaseMessage[] }, { signal }) => model.invoke(messages, { signal }),
      options(),
    );
    const stream = withAutoCompaction(
      ({ messages }: { messages: BaseMessage[] }, { signal }) => model.stream(messages, { signal }),
      options(),
    );
    const messages: BaseMessage[] = [new SystemMessage('Be exact.'), new HumanMessage('Read the log.')];
    for (;;) {
      const reply = isStreamed ? await concat(await stream({ messages })) : await invoke({ messages });
      messages.push(reply);
      if (!reply.tool_calls?.length) break;
      for (const { id = '' } of reply.tool_calls) messages.push(new ToolMessage({ content: page, tool_call_id: id }));
    }
    expect(messages.at(-1)?.text).toBe('The certificate expired.');
    expect(messages).toHaveLength(21);
    expect(server.violations).toEqual([]);
    expect(noticesOf(events)).toEqual([]);
    expect(lifecycleOf(events).filter((type) => type === 'applied').length).toBeGreaterThan(1);
    expect(lifecycleOf(events).some((type) => type.startsWith('failed'))).toBe(false);
    for (const body of server.bodies) expect(JSON.stringify(messagesOf(body)[0])).toContain('Be exact.');
  });

  it('reads the usage that the package reports', async () => {
    server.script.turns = [{ text: 'Hi.' }];
    const reply = await chat(wire).invoke([new HumanMessage('Hello')]);
    expect(adapter.usage(reply)).toEqual({ inputTokens: expect.any(Number), outputTokens: 5 });
    expect(adapter.usage(reply)?.inputTokens).toBeGreaterThan(5);
    expect(await adapter.readReply(reply)).toMatchObject({ text: 'Hi.', finish: 'stop', calls: [], items: [reply] });
  });

  it.each([
    ['stop', { text: 'Hi.' }],
    ['length', { text: 'Hi', finish: wire.useResponsesApi ? 'max_output_tokens' : 'length' }],
    ['content-filter', { text: 'Hi', finish: 'content_filter' }],
    ['tool-calls', { calls: [{ id: 'call_1', name: 'read', input: { page: 1 } }] }],
  ])('reads how a reply ended: %s', async (finish, words) => {
    for (const read of [(model: ChatOpenAI) => model.invoke('Hello'), (model: ChatOpenAI) => model.stream('Hello')]) {
      server.script.turns = [words];
      const summary = await adapter.readReply(await read(chat(wire)));
      expect(summary.finish).toBe(finish);
      expect(summary.usage?.outputTokens).toBe(5);
      expect(summary.items).toHaveLength(1);
    }
  });
});

describe('messages without a class', () => {
  it('are carried, and what is new stands among them', async () => {
    const model = chat();
    const invoke = withAutoCompaction(
      ({ messages }: { messages: { role: string; content: string }[] }, { signal }) => model.invoke(messages, { signal }),
      { ...options(), budget: { threshold: 1000, countTokens } },
    );
    server.script.turns = [{ text: page }, { text: 'Done.' }];
    const messages = [
      { role: 'system', content: 'Be exact.' },
      { role: 'user', content: 'Read the log.' },
    ];
    const reply = await invoke({ messages });
    messages.push({ role: 'assistant', content: reply.text }, { role: 'user', content: 'And now?' });
    expect((await invoke({ messages })).text).toBe('Done.');
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(server.violations).toEqual([]);
    const [rebuilt] = server.turns().slice(-1);
    expect(messagesOf(rebuilt ?? { model: '' }).map(({ role }) => role)).toEqual(['developer', 'user']);
    expect(JSON.stringify(rebuilt)).toContain('And now?');
  });
});

describe('a loop that owns its history', () => {
  it('takes replies of the model, and results', async () => {
    const model = chat().bindTools(tools);
    const send = ({ messages }: { messages: BaseMessage[] }, { signal }: SendContext) => model.stream(messages, { signal });
    const loop = new AutoCompactingLoop(
      { messages: [new HumanMessage('Read the log.')] as BaseMessage[] },
      { ...options(), send },
    );
    let text = '';
    for (;;) {
      const reply = await loop.appendReply(await loop.send());
      text = reply.text;
      if (reply.calls.length === 0) break;
      loop.append(reply.calls.map(({ id }) => new ToolMessage({ content: page, tool_call_id: id })));
    }
    expect(text).toBe('The certificate expired.');
    expect(server.violations).toEqual([]);
    expect(lifecycleOf(events).filter((type) => type === 'applied').length).toBeGreaterThan(1);
  });
});

describe('errors of the package', () => {
  it.each([
    ['overflow', 400, { message: "This model's maximum context length is 128000 tokens.", code: 'context_length_exceeded' }],
    ['overflow', 400, { message: 'Your input exceeds the context window of this model.' }],
    [
      'retryable',
      429,
      { message: 'Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.' },
    ],
    ['retryable', 503, { message: 'overloaded' }],
    ['fatal', 400, { message: "Invalid value: 'robot'." }],
    ['fatal', 401, { message: 'Incorrect API key provided.' }],
    ['fatal', 429, { message: 'You exceeded your current quota.', code: 'insufficient_quota' }],
  ])('are read as %s: %i %o', async (kind, status, error) => {
    server.script.turns = [{ status, error }];
    const thrown: unknown = await chat()
      .invoke('Hello')
      .catch((reason: unknown) => reason);
    expect(adapter.classifyError(thrown)).toMatchObject({ kind });
  });

  it('are read where the connection is refused, and where it is aborted', async () => {
    const lost = chat({ configuration: { baseURL: 'http://127.0.0.1:9/v1' } });
    expect(adapter.classifyError(await lost.invoke('Hello').catch((reason: unknown) => reason))).toEqual({ kind: 'retryable' });
    server.script.turns = [];
    const aborted: unknown = await chat()
      .invoke('Hello', { signal: AbortSignal.abort() })
      .catch((reason: unknown) => reason);
    expect(adapter.classifyError(aborted)).toEqual({ kind: 'fatal' });
  });
});

/** As a host puts a stream together. */
async function concat(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | undefined;
  for await (const chunk of stream) whole = whole ? whole.concat(chunk) : chunk;
  return whole ?? new AIMessageChunk('');
}
