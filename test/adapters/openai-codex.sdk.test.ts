import OpenAI from 'openai';
import type {
  ResponseCreateParamsStreaming,
  ResponseInput,
  ResponseInputItem,
  ResponseOutputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import type { Stream } from 'openai/streaming';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openaiCodex } from '../../src/adapters/openai-codex.ts';
import type { ResponsesItem } from '../../src/adapters/openai-responses.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { compactingFetch } from '../../src/fetch.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { type CodexAnswer, startCodexServer } from '../support/codex-server.ts';
import { lifecycleOf } from '../support/harness.ts';
import { sendJson, startServer, type TestServer } from '../support/http-server.ts';
import { goodSummary } from '../support/scripted-model.ts';

const adapter = openaiCodex();
const pages = 16;
let calls = 0;

const asksForSummary = (items: readonly ResponsesItem[]) =>
  JSON.stringify(items.at(-1)?.content)?.includes('This is a context compaction request.');
const says = (text: string): ResponsesItem => ({
  type: 'message',
  id: `msg_${++calls}`,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});

/** Reads page after page, thinking before each. */
const work: CodexAnswer = (items) => {
  if (asksForSummary(items)) return [says(goodSummary)];
  if (calls >= pages) return [says('Page 2.')];
  const id = `call_${++calls}`;
  return [
    { type: 'reasoning', id: `rs_${id}`, summary: [], encrypted_content: `sealed ${id}` },
    { type: 'function_call', id: `fc_${id}`, call_id: id, name: 'read', arguments: '{"page":1}', status: 'completed' },
  ];
};

let server: TestServer;
let events: CompactionEvent[];
beforeEach(() => {
  calls = 0;
  events = [];
});
afterEach(() => server.close());

const connect = (fetch?: typeof globalThis.fetch) =>
  new OpenAI({
    apiKey: 'token',
    baseURL: `${server.url}/backend-api/codex`,
    defaultHeaders: { 'chatgpt-account-id': 'account', originator: 'test' },
    maxRetries: 0,
    logLevel: 'off',
    ...(fetch && { fetch }),
  });
const options = {
  adapter,
  contextWindow: 12_000,
  summary: { retries: 0 },
  onEvent: (event: CompactionEvent) => void events.push(event),
};

const request = (input: ResponseInput): ResponseCreateParamsStreaming => ({
  model: 'gpt-5-codex',
  instructions: 'Be exact.',
  input,
  tools: [{ type: 'function', name: 'read', parameters: { type: 'object' }, strict: false }],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: 'session-1',
  store: false,
  stream: true,
});

/** An agent that keeps its history itself: what was put out goes in again. */
async function run(create: (request: ResponseCreateParamsStreaming) => Promise<Stream<ResponseStreamEvent>>): Promise<string> {
  const input: ResponseInputItem[] = [{ role: 'user', content: 'Read all pages. Never restart the server.' }];
  for (;;) {
    const output: ResponseOutputItem[] = [];
    let text = '';
    for await (const event of await create(request(input))) {
      if (event.type === 'response.output_item.done') output.push(event.item);
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    input.push(...(output as ResponseInput)); // what was put out can be sent again
    const called = output.filter((item) => item.type === 'function_call');
    if (called.length === 0) return text;
    for (const { call_id } of called)
      input.push({ type: 'function_call_output', call_id, output: `The page says: ${'word '.repeat(1000)}` });
  }
}

describe('Codex with the openai SDK', () => {
  it('runs an agent through several compactions', async () => {
    server = await startCodexServer(work);
    const client = connect();
    const create = withAutoCompaction(
      (body: ResponseCreateParamsStreaming, { signal }) => client.responses.create(body, { signal }),
      options,
    );
    expect(await run(create)).toBe('Page 2.');
    expect(lifecycleOf(events).slice(0, 4)).toEqual(['started', 'applied', 'started', 'applied']);
    const bodies = server.bodies as { input: ResponsesItem[]; store: boolean; stream: boolean }[];
    const forks = bodies.filter(({ input }) => asksForSummary(input));
    expect(forks.length).toBeGreaterThan(1);
    for (const fork of forks) {
      expect(fork).not.toHaveProperty('max_output_tokens');
      expect(fork).toMatchObject({ store: false, stream: true, tool_choice: 'none', prompt_cache_key: 'session-1' });
      // Sealed reasoning goes with what it led to, byte for byte.
      const parent = bodies[bodies.indexOf(fork) - 1];
      expect(JSON.stringify(fork.input).startsWith(JSON.stringify(parent?.input).slice(0, -1))).toBe(true);
    }
  });

  it('runs through the wrapped fetch', async () => {
    server = await startCodexServer(work);
    const client = connect(compactingFetch(options));
    expect(await run((body) => client.responses.create(body))).toBe('Page 2.');
    expect(lifecycleOf(events)).toContain('applied');
  });

  it('sees what a failed response says, and what the SDK does not show is no overflow', async () => {
    const tooLong = { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' };
    server = await startCodexServer(() => tooLong);
    const failed = await connect().responses.create(request([{ role: 'user', content: 'Go.' }]));
    const error = await adapter.readReply(failed).catch((thrown: unknown) => thrown);
    expect(adapter.classifyError(error)).toEqual({ kind: 'overflow' });

    const refused = await connect()
      .responses.create({ ...request([{ role: 'user', content: 'Go.' }]), max_output_tokens: 500 })
      .catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ status: 400, message: '400 status code (no body)' });
    expect(adapter.classifyError(refused)).toEqual({ kind: 'fatal' });
  });

  it('gives up where the plan is used up, and reads a stream that ends early as cut', async () => {
    let asked = 0;
    server = await startServer((_body, response) => {
      if (asked++ === 0)
        return sendJson(response, 429, { error: { type: 'usage_limit_reached', plan_type: 'plus', resets_at: 1 } });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const delta = { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Half' };
      response.end(`event: ${delta.type}\ndata: ${JSON.stringify(delta)}\n\n`);
    });
    const error = await connect()
      .responses.create(request([{ role: 'user', content: 'Go.' }]))
      .catch((thrown: unknown) => thrown);
    expect(adapter.classifyError(error)).toEqual({ kind: 'fatal' });
    const cut = await connect().responses.create(request([{ role: 'user', content: 'Go.' }]));
    expect(await adapter.readReply(cut)).toMatchObject({ text: 'Half', finish: 'incomplete' });
  });

  it('rejects with the reason of an abort while the stream hangs', async () => {
    server = await startServer((_body, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1"}}\n\n`);
    });
    const controller = new AbortController();
    const reply = await connect().responses.create(request([{ role: 'user', content: 'Go.' }]), { signal: controller.signal });
    const reason = new Error('enough');
    setTimeout(() => controller.abort(reason), 30);
    await expect(adapter.readReply(reply, { signal: controller.signal })).rejects.toBe(reason);
  });
});
