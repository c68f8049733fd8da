import OpenAI from 'openai';
import type {
  Response as ModelResponse,
  ResponseCreateParamsNonStreaming,
  ResponseInput,
} from 'openai/resources/responses/responses';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openaiResponses, type ResponsesItem } from '../../src/adapters/openai-responses.ts';
import { createCompactor } from '../../src/compactor.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { compactingFetch } from '../../src/fetch.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { lifecycleOf, noticesOf } from '../support/harness.ts';
import { type ResponsesServer, type ResponsesServerOptions, says, startResponsesServer } from '../support/responses-server.ts';

const tools: ResponseCreateParamsNonStreaming['tools'] = [
  { type: 'function', name: 'read', parameters: { type: 'object', properties: { page: { type: 'number' } } }, strict: false },
];
const task = 'Read all pages. Which one has the error? Never restart the server 📦.';
const pages = 12;

let calls = 0;
/** Reads page after page, then answers. It knows how far it has come from the results that it sees, or from the summary. */
function work(items: readonly ResponsesItem[]): ResponsesItem[] {
  if (!items.some(({ content }) => JSON.stringify(content)?.includes('Read all pages.'))) return [says('Fine.')];
  if (calls >= pages) return [says('Page 2.')];
  const id = `call_${++calls}`;
  return [
    { type: 'reasoning', id: `rs_${id}`, summary: [], encrypted_content: 'gAAA' },
    { type: 'function_call', id: `fc_${id}`, call_id: id, name: 'read', arguments: `{"page":${calls}}`, status: 'completed' },
  ];
}

let server: ResponsesServer;
let client: OpenAI;
let events: CompactionEvent[];
async function start(options: Partial<ResponsesServerOptions> = {}): Promise<void> {
  server = await startResponsesServer({ window: 8000, answer: work, ...options });
  client = new OpenAI({ apiKey: 'test', baseURL: `${server.url}/v1`, maxRetries: 0, logLevel: 'off' });
}
beforeEach(() => {
  calls = 0;
  events = [];
});
afterEach(() => server.close());

const options = {
  adapter: openaiResponses(),
  contextWindow: 8000,
  summary: { retries: 0 },
  onEvent: (event: CompactionEvent) => void events.push(event),
};
const wrap = (more: object = {}) =>
  withAutoCompaction((request: ResponseCreateParamsNonStreaming, { signal }) => client.responses.create(request, { signal }), {
    ...options,
    ...more,
  });
type Create = (request: ResponseCreateParamsNonStreaming) => Promise<ModelResponse>;

const ask = (input: string | ResponseInput, previous?: string): ResponseCreateParamsNonStreaming => ({
  model: 'gpt-5',
  instructions: 'Be exact.',
  tools,
  input,
  ...(previous !== undefined && { previous_response_id: previous }),
});
const long = (text: string) => `${text} ${'word '.repeat(1000)}`;

/** An agent that sends what is new, and the id of the reply before. */
async function run(create: Create, first: string | ResponseInput): Promise<ModelResponse> {
  for (let reply = await create(ask(first)); ; ) {
    const called = reply.output.filter((item) => item.type === 'function_call');
    if (called.length === 0) return reply;
    const outputs = called.map(({ call_id }) => ({
      type: 'function_call_output' as const,
      call_id,
      output: long('The page says:'),
    }));
    reply = await create(ask(outputs, reply.id));
  }
}

describe('a chain of responses by previous_response_id, over HTTP', () => {
  it('is summarized where it is, goes out whole once, and goes on from the new reply', async () => {
    await start();
    const create = wrap();
    let previous: string | undefined;
    let turn = 0;
    while (server.summaries().length === 0 && turn < 20) previous = (await create(ask(long(`Question ${++turn}.`), previous))).id;
    const asked = server.turns().at(-2);
    const before = server.held().at(-2);

    // The private request: the same id, what is new, and the instruction; it is not stored.
    const [summary] = server.summaries();
    expect(summary).toEqual({
      ...ask([], before),
      input: [{ type: 'message', role: 'user', content: long(`Question ${turn}.`) }, expect.objectContaining({ role: 'user' })],
      max_output_tokens: expect.any(Number),
      tool_choice: 'none',
      store: false,
    });
    expect(asked?.previous_response_id).not.toBe(before);
    expect(server.held()).toHaveLength(turn);

    // The turn: everything in one message, without an id.
    const sent = server.turns().at(-1);
    expect(sent).toEqual({ ...ask([]), input: [expect.objectContaining({ role: 'user' })] });
    expect(JSON.stringify(sent)).toContain(`The model saw ${2 * turn} items, ${turn + 1} of them of the user.`);
    expect(JSON.stringify(sent)).toContain(long(`Question ${turn}.`));
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(events.at(-1)).toMatchObject({ type: 'auto_compaction_applied', prefix: 'kept', because: [] });
    expect(noticesOf(events)).toEqual([]);

    // The next goes out as it is.
    const next = ask('And now?', previous);
    await create(next);
    expect(server.turns().at(-1)).toEqual(next);
    expect(server.summaries()).toHaveLength(1);
  });

  it('keeps what the user asked for, word for word, though only the first request had it', async () => {
    await start();
    const reply = await run(wrap(), task);
    expect(reply.output_text).toBe('Page 2.');
    expect(server.summaries().length).toBeGreaterThan(1);
    expect(server.summaries().length).toBeLessThan(pages / 2);
    expect(lifecycleOf(events)).toEqual(server.summaries().flatMap(() => ['started', 'applied']));
    const whole = server.turns().filter(({ previous_response_id }) => previous_response_id === undefined);
    expect(whole).toHaveLength(server.summaries().length + 1);
    for (const { input } of whole.slice(1)) {
      expect(input).toHaveLength(1);
      expect(JSON.stringify(input).split(JSON.stringify(task).slice(1, -1))).toHaveLength(2);
    }
    expect(server.turns()).toHaveLength(pages + 1);
  });

  it('stays as it was where the summary fails', async () => {
    await start({
      window: 100_000,
      summaryError: () => ({ status: 400, error: { message: 'No.', type: 'invalid_request_error' } }),
    });
    const create = wrap({ contextWindow: 12_000 });
    const requests: unknown[] = [];
    await run((request) => {
      requests.push(request);
      return create(request);
    }, task);
    expect(server.turns()).toEqual(requests);
    expect(server.held()).toHaveLength(requests.length);
    expect(server.summaries()).toHaveLength(1); // no retry mends it: not again, until the user says something new
    expect(lifecycleOf(events)).toEqual(['started', 'failed: summarizer-failed']);
    expect(noticesOf(events)).toEqual(['suppressed']);
  });

  it('passes through where the library has not seen its beginning, and says so once', async () => {
    await start({ window: 100_000 });
    const { id } = await client.responses.create(ask(long('Before.')));
    const create = wrap();
    let previous = id;
    for (let turn = 1; turn <= 8; turn++) previous = (await create(ask(long(`Question ${turn}.`), previous))).id;
    expect(server.summaries()).toEqual([]);
    expect(noticesOf(events)).toEqual(['server-held']);
    const next = ask('And now?', previous);
    expect(create.compactor.estimate(next)).toMatchObject({ overThreshold: true, sources: { tokens: 'usage' } });
    expect(await create.compactor.plan(next)).toMatchObject({ gate: 'server-held', serverHeld: 'previous_response_id' });
    await expect(create.compactor.compact(next)).rejects.toMatchObject({ code: 'invalid-request' });
  });

  it('passes through where system text is in it, which a summary would lose', async () => {
    await start({ window: 100_000 });
    const create = wrap();
    await run(create, [
      { role: 'developer', content: 'Answer in rhymes.' },
      { role: 'user', content: task },
    ]);
    expect(server.summaries()).toEqual([]);
    expect(noticesOf(events)).toEqual(['server-held']);
  });

  it('passes through where the summarizer reads messages: it would not see them', async () => {
    await start({ window: 100_000 });
    const create = wrap({ summary: { summarizer: async () => ({ text: 'Nothing happened.' }) } });
    await run(create, task);
    expect(lifecycleOf(events)).toEqual([]);
    expect(noticesOf(events)).toEqual(['server-held']);
  });

  it('may branch: each branch goes its own way', async () => {
    await start();
    const create = wrap();
    const { id: root } = await create(ask(long('Root.')));
    const ends = ['left', 'right'].map(() => root);
    for (let turn = 1; turn <= 7; turn++)
      for (const [branch, name] of ['left', 'right'].entries())
        ends[branch] = (await create(ask(long(`${name} ${turn}.`), ends[branch]))).id;
    expect(server.summaries().length).toBeGreaterThanOrEqual(2);
    for (const { input } of server.turns().filter(({ previous_response_id: id }, index) => index > 0 && id === undefined))
      expect(JSON.stringify(input).includes('left') !== JSON.stringify(input).includes('right')).toBe(true);
    expect(noticesOf(events)).toEqual([]);
  });

  it('is told of streams by whoever reads them', async () => {
    await start();
    const compactor = createCompactor({
      ...options,
      send: (request: ResponseCreateParamsNonStreaming, { signal }) => client.responses.create(request, { signal }),
    });
    let previous: string | undefined;
    for (let turn = 1; turn <= 8; turn++) {
      const request = await compactor.prepare(ask(long(`Question ${turn}.`), previous));
      for await (const event of await client.responses.create({ ...request, stream: true }))
        if (event.type === 'response.completed' && event.response.usage) {
          const { input_tokens: inputTokens, output_tokens: outputTokens } = event.response.usage;
          compactor.observe(request, { usage: { inputTokens, outputTokens }, responseId: event.response.id });
          previous = event.response.id;
        }
    }
    expect(server.summaries().length).toBeGreaterThan(0);
    expect(noticesOf(events)).toEqual([]);
  });

  it('is followed by the wrapped fetch, streams included', async () => {
    await start();
    client = new OpenAI({
      apiKey: 'test',
      baseURL: `${server.url}/v1`,
      maxRetries: 0,
      logLevel: 'off',
      fetch: compactingFetch(options),
    });
    let previous: string | null = null;
    for (let turn = 1; turn <= 8; turn++) {
      const request = { ...ask(long(`Question ${turn}.`)), previous_response_id: previous, stream: true as const };
      const reply: ModelResponse = await client.responses.stream(request).finalResponse();
      previous = reply.id;
    }
    expect(server.summaries().length).toBeGreaterThan(0);
    expect(server.summaries().every(({ stream, store }) => stream === true && store === false)).toBe(true);
    expect(noticesOf(events)).toEqual([]);
  });

  it('goes on in another process', async () => {
    await start();
    const first = wrap();
    let next = ask(long('Question.'));
    while (!(await first.compactor.plan(next)).wouldCompact) next = ask(long('And now?'), (await first(next)).id);
    const snapshot = JSON.parse(JSON.stringify(first.compactor.snapshot(next)));
    const second = wrap();
    second.compactor.restore(snapshot);
    await second(next);
    expect(server.summaries()).toHaveLength(1);
    expect(server.turns().at(-1)?.previous_response_id).toBeUndefined();
  });
});
