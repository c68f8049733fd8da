import Anthropic from '@anthropic-ai/sdk';
import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ReadReplyOptions, ReplySummary } from '../../src/adapters/adapter.ts';
import { type AnthropicMessage, type AnthropicReply, anthropicMessages } from '../../src/adapters/anthropic.ts';
import { validateAnthropic } from '../../src/testing/wire/anthropic.ts';
import { type AnthropicServer, startAnthropicServer } from '../support/anthropic-server.ts';

type Fields = Record<string, unknown>;

const adapter = anthropicMessages();
const request: MessageCreateParamsNonStreaming = {
  model: 'claude-sonnet-5',
  max_tokens: 4096,
  system: [{ type: 'text', text: 'Help.', cache_control: { type: 'ephemeral' } }],
  tools: [{ name: 'read', input_schema: { type: 'object' } }],
  thinking: { type: 'enabled', budget_tokens: 1024 },
  messages: [{ role: 'user', content: 'What is in a.ts?' }],
};

const usage = {
  input_tokens: 50,
  cache_creation_input_tokens: 100,
  cache_read_input_tokens: 850,
  output_tokens: 5,
  cache_creation: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: 'standard',
};
const expectedUsage = { inputTokens: 1000, outputTokens: 5, cachedInputTokens: 850, cacheWriteTokens: 100 };

function message(content: Fields[], stop_reason: string | null, more: Fields = {}): Fields {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5',
    content,
    stop_reason,
    stop_sequence: null,
    usage,
    ...more,
  };
}

const text: Fields = { type: 'text', text: 'SUMMARY', citations: null };
const thinking: Fields = { type: 'thinking', thinking: 'Hm.', signature: 'sealed' };
const call: Fields = { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a.ts' }, caller: { type: 'direct' } };

/** The events in which the provider streams a message; text in two pieces. */
function eventsOf(content: Fields[], stop_reason: string): Fields[] {
  const blocks = content.flatMap((block, index) => [
    { type: 'content_block_start', index, content_block: emptyBlock(block) },
    ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]);
  return [
    { type: 'message_start', message: message([], null, { usage: { ...usage, output_tokens: 1 } }) },
    { type: 'ping' },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];
}

function emptyBlock(block: Fields): Fields {
  if (block.type === 'text') return { ...block, text: '' };
  return block.type === 'thinking' ? { ...block, thinking: '', signature: '' } : { ...block, input: {} };
}

function deltasOf(block: Fields): Fields[] {
  if (block.type === 'text')
    return String(block.text)
      .split(/(?<=SUM)/)
      .map((piece) => ({ type: 'text_delta', text: piece }));
  if (block.type !== 'thinking') return [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }];
  return [
    { type: 'thinking_delta', thinking: block.thinking },
    { type: 'signature_delta', signature: block.signature },
  ];
}

let server: AnthropicServer;
let client: Anthropic;

beforeAll(async () => {
  server = await startAnthropicServer();
  client = new Anthropic({ apiKey: 'test', baseURL: server.baseURL, maxRetries: 0 });
});

beforeEach(() => {
  server.bodies.length = 0;
});

afterAll(() => server.close());

/** The three ways in which the SDK gives a reply. */
const ways: [string, (params: MessageCreateParamsNonStreaming, options: { signal?: AbortSignal }) => Promise<AnthropicReply>][] =
  [
    ['create', (params, options) => client.messages.create(params, options)],
    ['create with stream', (params, options) => client.messages.create({ ...params, stream: true }, options)],
    ['stream', async (params, options) => client.messages.stream(params, options)],
  ];
const streams = ways.slice(1);

function answerWith(content: Fields[], stop_reason: string): void {
  server.answer = ({ stream }) =>
    stream ? { events: eventsOf(content, stop_reason), ending: 'end' } : { message: message(content, stop_reason) };
}

describe.each(ways)('through messages.%s', (name, create) => {
  async function ask(options: ReadReplyOptions = {}): Promise<ReplySummary<AnthropicMessage>> {
    return adapter.readReply(await create(request, options.signal ? { signal: options.signal } : {}), options);
  }

  it('reads a whole reply', async () => {
    answerWith([thinking, text], 'end_turn');
    const heard: string[] = [];
    const summary = await ask({ onText: (piece) => heard.push(piece) });
    expect(summary).toEqual({
      text: 'SUMMARY',
      finish: 'stop',
      calls: [],
      items: [{ role: 'assistant', content: [thinking, text] }],
      usage: expectedUsage,
    });
    expect(heard).toEqual(name === 'create' ? ['SUMMARY'] : ['SUM', 'MARY']);
  });

  it('carries a tool turn on, and asks for a summary of it', async () => {
    answerWith([thinking, text, call], 'tool_use');
    const summary = await ask();
    expect(summary).toMatchObject({
      finish: 'tool-calls',
      text: '',
      calls: [{ id: 'toolu_1', name: 'read', input: { path: 'a.ts' } }],
    });
    const results = adapter.writeMessage({
      role: 'tool',
      parts: summary.calls.map(({ id }) => ({ type: 'toolResult', callId: id, content: [{ type: 'text', text: 'export {}' }] })),
    });
    const continued = adapter.withItems(request, [...request.messages, ...summary.items, ...results]);
    answerWith([text], 'end_turn');
    const { request: forked, changed } = adapter.forkForSummary(continued, 'Summarize.', { maxTokens: 500 });
    expect(changed).toEqual([]);
    expect((await adapter.readReply(await create(forked, {}))).text).toBe('SUMMARY');
    const [first, second] = server.bodies;
    expect(server.bodies.flatMap(validateAnthropic)).toEqual([]);
    expect(second).toMatchObject({ max_tokens: 1524, system: first?.system, tools: first?.tools, thinking: first?.thinking });
    expect(second?.messages).toEqual([
      ...request.messages,
      { role: 'assistant', content: [thinking, text, call] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'export {}' }] }],
      },
      { role: 'user', content: 'Summarize.' },
    ]);
  });

  it.each([
    ['max_tokens', 'length'],
    ['refusal', 'refusal'],
    ['model_context_window_exceeded', 'overflow'],
    ['pause_turn', 'pause'],
  ])('reads the stop reason %s as %s', async (stopReason, finish) => {
    answerWith([text], stopReason);
    expect((await ask()).finish).toBe(finish);
  });

  it.each([
    [
      400,
      'invalid_request_error',
      'prompt is too long: 213462 tokens > 200000 maximum',
      { kind: 'overflow', limit: 200_000, requested: 213_462 },
    ],
    [529, 'overloaded_error', 'Overloaded', { kind: 'retryable' }],
    [429, 'rate_limit_error', 'This request would exceed your rate limit', { kind: 'retryable', retryAfter: 7000 }],
    [400, 'invalid_request_error', 'messages: text content blocks must be non-empty', { kind: 'fatal' }],
    [401, 'authentication_error', 'invalid x-api-key', { kind: 'fatal' }],
  ])('classifies the error %i %s: %s', async (status, type, errorMessage, expected) => {
    server.answer = () => ({
      status,
      error: { type, message: errorMessage },
      headers: status === 429 ? { 'retry-after': '7' } : {},
    });
    const error = await ask().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Error);
    expect(adapter.classifyError(error)).toEqual(expected);
  });
});

describe.each(streams)('a broken stream of messages.%s', (_name, create) => {
  const whole = eventsOf([thinking, text, call], 'tool_use');
  const upTo = (type: string, index: number): Fields[] =>
    whole.slice(0, whole.findIndex((event) => event.type === type && event.index === index) + 1);

  it('B188: is incomplete where it ends after a block', async () => {
    server.answer = () => ({ events: upTo('content_block_stop', 1), ending: 'end' });
    const summary = await adapter.readReply(await create(request, {}));
    expect(summary).toMatchObject({ finish: 'incomplete', text: 'SUMMARY', calls: [] });
    expect(summary.items).toEqual([{ role: 'assistant', content: [thinking, text] }]);
  });

  it('leaves out the call whose arguments were cut', async () => {
    server.answer = () => ({ events: upTo('content_block_start', 2), ending: 'end' });
    const summary = await adapter.readReply(await create(request, {}));
    expect(summary).toMatchObject({ finish: 'incomplete', calls: [] });
    expect(summary.items).toEqual([{ role: 'assistant', content: [thinking, text] }]);
  });

  it('rejects with the error that comes in the middle', async () => {
    const failed = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    server.answer = () => ({ events: [...upTo('content_block_stop', 1), failed], ending: 'end' });
    const error = await adapter.readReply(await create(request, {})).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(adapter.classifyError(error)).toEqual({ kind: 'retryable' });
  });

  it('rejects where the connection is lost', async () => {
    server.answer = () => ({ events: upTo('content_block_stop', 1), ending: 'reset' });
    const error = await adapter.readReply(await create(request, {})).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
  });

  it('rejects with the reason of an abort while it hangs, whether or not the client knows the signal', async () => {
    server.answer = () => ({ events: upTo('content_block_delta', 1), ending: 'hang' });
    for (const known of [true, false]) {
      const controller = new AbortController();
      const reason = new Error('enough');
      const stream = await create(request, known ? { signal: controller.signal } : {});
      const heard: string[] = [];
      const onText = (piece: string): void => {
        heard.push(piece);
        controller.abort(reason);
      };
      await expect(adapter.readReply(stream, { signal: controller.signal, onText })).rejects.toBe(reason);
      expect(heard).toEqual(['SUM']);
    }
  });
});

describe('a MessageStream', () => {
  it('that has ended still gives its reply', async () => {
    answerWith([text], 'end_turn');
    const stream = client.messages.stream(request);
    await stream.done();
    const heard: string[] = [];
    const summary = await adapter.readReply(stream, { onText: (piece) => heard.push(piece) });
    expect(summary).toMatchObject({ text: 'SUMMARY', finish: 'stop', usage: expectedUsage });
    expect(heard).toEqual(['SUMMARY']);
  });

  it('that had begun gives its whole reply', async () => {
    answerWith([text], 'end_turn');
    const stream = client.messages.stream(request);
    await new Promise((resolve) => stream.once('streamEvent', resolve));
    const summary = await adapter.readReply(stream);
    expect(summary).toMatchObject({ text: 'SUMMARY', finish: 'stop', usage: expectedUsage });
    expect(summary.items).toEqual([{ role: 'assistant', content: [text] }]);
  });

  it('of the beta is read too', async () => {
    answerWith([text], 'end_turn');
    const stream = client.beta.messages.stream({ ...request, betas: ['context-management-2025-06-27'] });
    expect(await adapter.readReply(stream)).toMatchObject({ text: 'SUMMARY', finish: 'stop', usage: expectedUsage });
  });
});

it('lets the SDK take the largest summary request that is not streamed', async () => {
  answerWith([text], 'end_turn');
  const { request: forked } = adapter.forkForSummary(request, 'Summarize.', { maxTokens: 100_000 });
  expect((await adapter.readReply(await client.messages.create(forked))).text).toBe('SUMMARY');
  expect(server.bodies[0]?.max_tokens).toBe(21_333);
});
