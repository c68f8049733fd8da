import type { ServerResponse } from 'node:http';
import OpenAI from 'openai';
import type {
  ChatCompletionChunk,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { Stream } from 'openai/streaming';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import { validateOpenAiChat } from '../../src/testing/wire/openai-chat.ts';
import { sendEvents, sendJson, startServer, type TestServer } from '../support/http-server.ts';

const adapter = openaiChat();
const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }];
const usage = {
  prompt_tokens: 1000,
  completion_tokens: 5,
  total_tokens: 1005,
  prompt_tokens_details: { cached_tokens: 896 },
  completion_tokens_details: { reasoning_tokens: 0 },
};
const measured = { inputTokens: 1000, outputTokens: 5, cachedInputTokens: 896, reasoningTokens: 0 };
const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } };

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

const completion = (message: object, finish = 'stop') => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-5',
  choices: [
    {
      index: 0,
      finish_reason: finish,
      logprobs: null,
      message: { role: 'assistant', content: null, refusal: null, annotations: [], ...message },
    },
  ],
  usage,
});
const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt-5',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const half = [chunk({ role: 'assistant', content: '', refusal: null }), chunk({ content: 'SUM' }), chunk({ content: 'MARY' })];

const ask = (request: Partial<ChatCompletionCreateParamsNonStreaming> = {}) =>
  client.chat.completions.create({ model: 'gpt-5', messages, ...request });

async function stream(
  events: readonly unknown[],
  options: { open?: boolean; signal?: AbortSignal } = {},
): Promise<Stream<ChatCompletionChunk>> {
  answer = (response) => {
    sendEvents(response, events);
    if (!options.open) response.end();
  };
  const request: ChatCompletionCreateParamsStreaming = { model: 'gpt-5', messages, stream: true };
  return client.chat.completions.create(request, { signal: options.signal ?? null });
}

describe('with the openai SDK', () => {
  it('reads a reply, and its usage beside it', async () => {
    answer = (response) => sendJson(response, 200, completion({ content: 'SUMMARY' }));
    const reply = await ask();
    expect(await adapter.readReply(reply)).toEqual({
      text: 'SUMMARY',
      finish: 'stop',
      calls: [],
      items: [{ role: 'assistant', content: 'SUMMARY' }],
      usage: measured,
    });
    expect(adapter.usage(reply)).toEqual(measured);
  });

  it('reads a stream', async () => {
    const texts: string[] = [];
    const reply = await stream([...half, chunk({}, 'stop'), { ...chunk({}), choices: [], usage }, '[DONE]']);
    expect(adapter.usage(reply)).toBeUndefined();
    expect(await adapter.readReply(reply, { onText: (text) => texts.push(text) })).toEqual({
      text: 'SUMMARY',
      finish: 'stop',
      calls: [],
      items: [{ role: 'assistant', content: 'SUMMARY' }],
      usage: measured,
    });
    expect(texts).toEqual(['SUM', 'MARY']);
  });

  it('reads what the streaming helper of the SDK gives', async () => {
    answer = (response) => {
      sendEvents(response, [...half, chunk({}, 'stop'), '[DONE]']);
      response.end();
    };
    const helper = client.chat.completions.stream({ model: 'gpt-5', messages });
    expect(await adapter.readReply(helper)).toMatchObject({ text: 'SUMMARY', finish: 'stop' });
  });

  it('reads calls, and the next request with them is legal', async () => {
    const expected = { finish: 'tool-calls', text: '', calls: [{ id: 'call_1', name: 'look', input: { at: 1 } }] };
    answer = (response) => sendJson(response, 200, completion({ tool_calls: [call] }, 'tool_calls'));
    const whole = await adapter.readReply(await ask());
    expect(whole).toMatchObject(expected);
    const pieces = await adapter.readReply(
      await stream([
        chunk({
          role: 'assistant',
          content: null,
          tool_calls: [{ index: 0, ...call, function: { name: 'look', arguments: '' } }],
        }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '{"at"' } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
        chunk({}, 'tool_calls'),
        '[DONE]',
      ]),
    );
    expect(pieces).toMatchObject(expected);
    expect(pieces.items).toEqual(whole.items);

    answer = (response) => sendJson(response, 200, completion({ content: 'Done.' }));
    const next = adapter.withItems({ model: 'gpt-5', messages }, [
      ...messages,
      ...pieces.items,
      ...adapter.writeMessage({
        role: 'tool',
        parts: [{ type: 'toolResult', callId: 'call_1', content: [{ type: 'text', text: 'seen' }] }],
      }),
    ]);
    await client.chat.completions.create(next);
    const sent = server.bodies.at(-1);
    expect(sent).toEqual(next);
    expect(validateOpenAiChat(sent)).toEqual([]);
  });

  it('sends a fork as it is, and legal', async () => {
    answer = (response) => sendJson(response, 200, completion({ content: 'SUMMARY' }));
    const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }];
    const { request } = adapter.forkForSummary({ model: 'gpt-5', messages, tools, n: 2 }, 'Summarize.', { maxTokens: 1000 });
    await ask(request);
    expect(server.bodies.at(-1)).toEqual(request);
    expect(validateOpenAiChat(server.bodies.at(-1))).toEqual([]);
  });

  it.each([
    [{ refusal: 'I cannot.' }, 'stop', 'refusal', ''],
    [{ content: 'half a summ' }, 'length', 'length', 'half a summ'],
    [{ content: 'half' }, 'content_filter', 'content-filter', 'half'],
  ])('reads how %j with %s ended', async (message, finish, expected, text) => {
    answer = (response) => sendJson(response, 200, completion(message, finish));
    expect(await adapter.readReply(await ask())).toMatchObject({ finish: expected, text });
    expect(await adapter.readReply(await stream([chunk(message), chunk({}, finish), '[DONE]']))).toMatchObject({
      finish: expected,
      text,
    });
  });

  it('B188: does not take a stream that was cut for a whole one', async () => {
    expect(await adapter.readReply(await stream(half))).toMatchObject({ finish: 'incomplete', text: 'SUMMARY' });
  });

  it('passes on an error in the middle of a stream', async () => {
    const reply = await stream([...half, { error: { message: 'The server had an error', type: 'server_error', code: null } }]);
    const error = await adapter.readReply(reply).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(adapter.classifyError(error)).toEqual({ kind: 'retryable' });
  });

  it('sees an overflow in the middle of a stream', async () => {
    const reply = await stream([
      { error: { message: 'Your input exceeds the context window of this model.', code: 'context_length_exceeded' } },
    ]);
    const error = await adapter.readReply(reply).catch((thrown: unknown) => thrown);
    expect(adapter.classifyError(error)).toEqual({ kind: 'overflow' });
  });

  it('rejects with the reason of an abort while the stream hangs, though the SDK ends it without a word', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const reply = await stream(half, { open: true, signal: controller.signal });
    await expect(adapter.readReply(reply, { signal: controller.signal, onText: () => controller.abort(reason) })).rejects.toBe(
      reason,
    );
  });

  it('closes the connection of a stream that does not know the signal', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const reply = await stream(half, { open: true });
    const closed = new Promise<void>((resolve) => reply.controller.signal.addEventListener('abort', () => resolve()));
    setTimeout(() => controller.abort(reason), 50);
    await expect(adapter.readReply(reply, { signal: controller.signal })).rejects.toBe(reason);
    await closed;
  });

  const failing = async (status: number, error: unknown, headers?: Record<string, string>): Promise<unknown> => {
    answer = (response) => sendJson(response, status, error, headers);
    return ask().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  };

  it('classifies an overflow with its sizes', async () => {
    const message =
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 200010 tokens. Please reduce the length of the messages.";
    const error = await failing(400, {
      error: { message, type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' },
    });
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(adapter.classifyError(error)).toEqual({ kind: 'overflow', limit: 128000, requested: 200010 });
  });

  it('classifies a rate limit with the time to wait', async () => {
    const body = { error: { message: 'Rate limit reached for gpt-5', type: 'tokens', param: null, code: 'rate_limit_exceeded' } };
    expect(adapter.classifyError(await failing(429, body, { 'retry-after': '2' }))).toEqual({
      kind: 'retryable',
      retryAfter: 2000,
    });
    expect(adapter.classifyError(await failing(429, body, { 'retry-after-ms': '120' }))).toEqual({
      kind: 'retryable',
      retryAfter: 120,
    });
    expect(adapter.classifyError(await failing(429, body))).toEqual({ kind: 'retryable' });
  });

  it('classifies what no retry mends', async () => {
    for (const [status, body] of [
      [429, { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } }],
      [401, { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }],
      [400, { detail: 'Unsupported parameter' }],
      [413, { error: { message: 'Request Entity Too Large' } }],
    ] as const)
      expect(adapter.classifyError(await failing(status, body))).toEqual({ kind: 'fatal' });
    const aborted = await client.chat.completions
      .create({ model: 'gpt-5', messages }, { signal: AbortSignal.abort() })
      .catch((thrown: unknown) => thrown);
    expect(aborted).toBeInstanceOf(OpenAI.APIUserAbortError);
    expect(adapter.classifyError(aborted)).toEqual({ kind: 'fatal' });
  });

  it('classifies a server that cannot be reached, or answers too late', async () => {
    const nowhere = new OpenAI({ apiKey: 'test', baseURL: 'http://127.0.0.1:1/v1', maxRetries: 0, logLevel: 'off' });
    const error = await nowhere.chat.completions.create({ model: 'gpt-5', messages }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.APIConnectionError);
    expect(adapter.classifyError(error)).toEqual({ kind: 'retryable' });
    answer = () => {};
    const late = await client.chat.completions
      .create({ model: 'gpt-5', messages }, { timeout: 50 })
      .catch((thrown: unknown) => thrown);
    expect(late).toBeInstanceOf(OpenAI.APIConnectionTimeoutError);
    expect(adapter.classifyError(late)).toEqual({ kind: 'retryable' });
    expect(adapter.classifyError(await failing(503, {}))).toEqual({ kind: 'retryable' });
  });
});
