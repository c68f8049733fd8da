import type { ServerResponse } from 'node:http';
import OpenAI from 'openai';
import { toResponseInputItems } from 'openai/lib/responses/ResponseInputItems';
import type {
  ResponseCreateParamsNonStreaming,
  ResponseCreateParamsStreaming,
  ResponseInputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import type { Stream } from 'openai/streaming';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openaiResponses } from '../../src/adapters/openai-responses.ts';
import { fingerprint } from '../../src/history/fingerprint.ts';
import { validateOpenAiResponses } from '../../src/testing/wire/openai-responses.ts';
import { sendJson, startServer, type TestServer } from '../support/http-server.ts';

const adapter = openaiResponses();
const input: ResponseInputItem[] = [{ role: 'user', content: 'Hello' }];
const usage = {
  input_tokens: 1000,
  input_tokens_details: { cached_tokens: 896, cache_write_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 1005,
};
const measured = {
  inputTokens: 1000,
  outputTokens: 5,
  cachedInputTokens: 896,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  responseId: 'resp_1',
};
const tool = { type: 'function', name: 'look', parameters: { type: 'object' }, strict: false } as const;
const thought = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAA' };
const message = (text: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":1}', status: 'completed' };

let answer: (response: ServerResponse, body: unknown) => void;
let server: TestServer;
let client: OpenAI;
beforeAll(async () => {
  server = await startServer((body, response) => answer(response, body));
  client = new OpenAI({ apiKey: 'test', baseURL: `${server.url}/v1`, maxRetries: 0, logLevel: 'off' });
});
afterAll(() => server.close());
beforeEach(() => {
  answer = (response) => sendJson(response, 500, { error: { message: 'no answer set' } });
});

const reply = (output: readonly object[], fields: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  model: 'gpt-5',
  output,
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  usage,
  ...fields,
});
const created = { type: 'response.created', response: reply([], { status: 'in_progress', usage: null }) };
const half = [
  created,
  { type: 'response.output_item.added', output_index: 0, item: { ...message(''), content: [], status: 'in_progress' } },
  {
    type: 'response.content_part.added',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    part: { type: 'output_text', text: '', annotations: [] },
  },
  ...['SUM', 'MARY'].map((delta) => ({
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    delta,
    logprobs: [],
  })),
];
const whole = [
  ...half,
  { type: 'response.output_text.done', item_id: 'msg_1', output_index: 0, content_index: 0, text: 'SUMMARY', logprobs: [] },
  { type: 'response.output_item.done', output_index: 0, item: message('SUMMARY') },
];
const completed = { type: 'response.completed', response: reply([message('SUMMARY')]) };

/** As the provider sends them: the name of the event beside it. */
function sendEvents(response: ServerResponse, events: readonly { type: string }[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  events.forEach((event, index) => {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`);
  });
}

const ask = (request: Partial<ResponseCreateParamsNonStreaming> = {}) =>
  client.responses.create({ model: 'gpt-5', input, ...request });

async function stream(
  events: readonly { type: string }[],
  options: { open?: boolean; signal?: AbortSignal } = {},
): Promise<Stream<ResponseStreamEvent>> {
  answer = (response) => {
    sendEvents(response, events);
    if (!options.open) response.end();
  };
  const request: ResponseCreateParamsStreaming = { model: 'gpt-5', input, stream: true };
  return client.responses.create(request, { signal: options.signal ?? null });
}

describe('with the openai SDK', () => {
  it('reads a reply, and its usage beside it', async () => {
    answer = (response) => sendJson(response, 200, reply([thought, message('SUMMARY')]));
    const read = await ask();
    expect(await adapter.readReply(read)).toEqual({
      text: 'SUMMARY',
      finish: 'stop',
      calls: [],
      items: [thought, message('SUMMARY')],
      usage: measured,
    });
    expect(adapter.usage(read)).toEqual(measured);
  });

  it('reads a stream', async () => {
    const texts: string[] = [];
    const read = await stream([...whole, completed]);
    expect(adapter.usage(read)).toBeUndefined();
    expect(await adapter.readReply(read, { onText: (text) => texts.push(text) })).toEqual({
      text: 'SUMMARY',
      finish: 'stop',
      calls: [],
      items: [message('SUMMARY')],
      usage: measured,
    });
    expect(texts).toEqual(['SUM', 'MARY']);
  });

  it('reads what the streaming helper of the SDK gives, also after it has ended', async () => {
    answer = (response) => {
      sendEvents(response, [...whole, completed]);
      response.end();
    };
    const helper = client.responses.stream({ model: 'gpt-5', input });
    expect(await adapter.readReply(helper)).toMatchObject({ text: 'SUMMARY', finish: 'stop', usage: measured });
    expect(helper.ended).toBe(true);
    const again = await adapter.readReply(helper);
    expect(again).toMatchObject({ text: 'SUMMARY', finish: 'stop', items: [message('SUMMARY')] });
  });

  it('reads a structured reply, which the SDK has added to', async () => {
    const parsed = message('{"title":"x"}');
    answer = (response) => sendJson(response, 200, reply([parsed, call]));
    const read = await client.responses.parse({ model: 'gpt-5', input, tools: [tool] });
    expect(JSON.stringify(read.output)).toContain('parsed_arguments');
    expect((await adapter.readReply(read)).items).toEqual([parsed, call]);
  });

  it('reads calls, and the next request with what was put out is legal', async () => {
    const output = [thought, call, { ...call, id: 'fc_2', call_id: 'call_2' }];
    const expected = { finish: 'tool-calls', text: '', calls: [{ id: 'call_1', input: { at: 1 } }, { id: 'call_2' }] };
    answer = (response) => sendJson(response, 200, reply(output));
    const first = await ask({ tools: [tool] });
    const summary = await adapter.readReply(first);
    expect(summary).toMatchObject(expected);
    const streamed = await adapter.readReply(
      await stream([
        created,
        ...output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
        { type: 'response.completed', response: reply(output) },
      ]),
    );
    expect(streamed).toMatchObject(expected);
    expect(streamed.items).toEqual(summary.items);

    answer = (response) => sendJson(response, 200, reply([message('Done.')]));
    const results = adapter.writeMessage({
      role: 'tool',
      parts: ['call_1', 'call_2'].map((callId) => ({ type: 'toolResult', callId, content: [{ type: 'text', text: 'seen' }] })),
    });
    const next = adapter.withItems({ model: 'gpt-5', input, tools: [tool] }, [...input, ...first.output, ...results]);
    await client.responses.create(next);
    const sent = server.bodies.at(-1);
    expect(sent).toEqual({ ...next, input: [...input, ...output, ...results] });
    expect(validateOpenAiResponses(sent)).toEqual([]);
  });

  it('reads items that the SDK has normalized like those that came', () => {
    const items = [thought, message('Fine.'), { ...call, created_by: 'me' }];
    const normalized = toResponseInputItems(items as never);
    expect(fingerprint(normalized.map(adapter.readItem))).toBe(fingerprint(items.map(adapter.readItem)));
    expect(items.map(adapter.repairItem)).toEqual(normalized);
  });

  it('sends a fork as it is, and legal', async () => {
    answer = (response) => sendJson(response, 200, reply([message('SUMMARY')]));
    const parent = { model: 'gpt-5', instructions: 'Be exact.', input: 'Hello', tools: [tool], background: true };
    const { request } = adapter.forkForSummary(parent, 'Summarize.', { maxTokens: 1000 });
    await ask(request);
    expect(server.bodies.at(-1)).toEqual(request);
    expect(validateOpenAiResponses(server.bodies.at(-1))).toEqual([]);
  });

  it('B188: does not take a stream that was cut for a whole one', async () => {
    const summary = await adapter.readReply(await stream(half));
    expect(summary).toMatchObject({ finish: 'incomplete', text: 'SUMMARY' });
    expect(JSON.stringify(summary.items)).not.toContain('msg_1'); // B184
  });

  it('reads how a stream ended that says so', async () => {
    const incomplete = reply([message('SUM')], { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    expect(await adapter.readReply(await stream([created, { type: 'response.incomplete', response: incomplete }]))).toMatchObject(
      {
        finish: 'length',
        text: 'SUM',
      },
    );
  });

  const tooLong = { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' };
  it.each([
    ['thrown by the SDK', { type: 'error', error: { type: 'invalid_request_error', param: 'input', ...tooLong } }],
    ['given as an event', { type: 'error', param: 'input', ...tooLong }],
    ['in a failed response', { type: 'response.failed', response: reply([], { status: 'failed', error: tooLong }) }],
  ])('sees an overflow in the middle of a stream, %s', async (_form, event) => {
    const error = await adapter.readReply(await stream([...half, event])).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(adapter.classifyError(error)).toEqual({ kind: 'overflow' });
  });

  it('rejects with the reason of an abort while the stream hangs, though the SDK ends it without a word', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const read = await stream(half, { open: true, signal: controller.signal });
    await expect(adapter.readReply(read, { signal: controller.signal, onText: () => controller.abort(reason) })).rejects.toBe(
      reason,
    );
  });

  it('closes the connection of a stream that does not know the signal', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const read = await stream(half, { open: true });
    const closed = new Promise<void>((resolve) => read.controller.signal.addEventListener('abort', () => resolve()));
    setTimeout(() => controller.abort(reason), 50);
    await expect(adapter.readReply(read, { signal: controller.signal })).rejects.toBe(reason);
    await closed;
  });

  it('classifies what the server refuses', async () => {
    for (const [status, error, kind] of [
      [400, { ...tooLong, type: 'invalid_request_error', param: 'input' }, 'overflow'],
      [429, { message: 'Rate limit reached', code: 'rate_limit_exceeded' }, 'retryable'],
      [429, { message: 'You exceeded your current quota', code: 'insufficient_quota' }, 'fatal'],
      [
        400,
        { message: 'No tool output found for function call call_1.', type: 'invalid_request_error', param: 'input', code: null },
        'fatal',
      ],
      [500, { message: 'boom', type: 'server_error' }, 'retryable'],
    ] as const) {
      answer = (response) => sendJson(response, status, { error });
      const thrown = await ask().catch((failure: unknown) => failure);
      expect(thrown).toBeInstanceOf(OpenAI.APIError);
      expect(adapter.classifyError(thrown).kind).toBe(kind);
    }
  });
});
