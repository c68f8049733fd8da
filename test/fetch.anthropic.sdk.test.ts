import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anthropicMessages } from '../src/adapters/anthropic.ts';
import { compactingFetch } from '../src/fetch.ts';
import { validateAnthropic } from '../src/testing/wire/anthropic.ts';
import { lifecycleOf, noticesOf } from './support/harness.ts';
import { bodyOf, isSummaryRequest } from './support/provider-server.ts';
import { inputTokensOf, sendAnthropicReply, sendJson } from './support/reply-formats.ts';
import { pageOf, pages, smallWindow, startWorkingModel, type WorkingModel } from './support/working-model.ts';

const secret = 'sk-ant-very-secret';

let model: WorkingModel;
beforeAll(async () => {
  model = await startWorkingModel(sendAnthropicReply, (path) => /^\/v1\/messages(\?|$)/.test(path));
});
afterAll(() => model.close());
beforeEach(() => model.reset());

const fetchWith = (options: object = {}) =>
  compactingFetch({ adapter: anthropicMessages(), ...smallWindow, onEvent: model.onEvent, ...options });
const clientWith = (fetch = fetchWith(), options: object = {}) =>
  new Anthropic({ apiKey: secret, baseURL: model.url, maxRetries: 0, logLevel: 'off', fetch, ...options });

const input_schema = { type: 'object' as const, properties: { page: { type: 'number' as const } }, required: ['page' as const] };
const tools: Anthropic.Tool[] = [{ name: 'read', description: 'Reads a page.', input_schema }];
const base = { model: 'claude-test', max_tokens: 1000, system: 'Be exact.' };

function expectCompactions(): void {
  const ends = lifecycleOf(model.events);
  expect(ends.length).toBeGreaterThanOrEqual(4);
  expect(ends).toEqual(ends.map((_, index) => (index % 2 === 0 ? 'started' : 'applied')));
  expect(model.summaries()).toHaveLength(ends.length / 2);
  expect(noticesOf(model.events)).toEqual([]);
  expect([...model.summaries(), ...model.turns()].flatMap((body) => validateAnthropic(body))).toEqual([]);
}

/** A host's own loop: its messages grow without end. */
async function work(client: Anthropic, task: string, how: 'create' | 'stream: true' | 'stream()'): Promise<string> {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: `Task ${task}` }];
  for (;;) {
    const request = { ...base, messages, tools };
    const message =
      how === 'create'
        ? await client.messages.create(request)
        : how === 'stream()'
          ? await client.messages.stream(request).finalMessage()
          : await collect(await client.messages.create({ ...request, stream: true }));
    messages.push({ role: 'assistant', content: message.content });
    const calls = message.content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return textOf(message);
    messages.push({
      role: 'user',
      content: calls.map(({ id, input }) => ({ type: 'tool_result', tool_use_id: id, content: pageOf(input as object) })),
    });
  }
}

const textOf = ({ content }: { content: readonly { type: string }[] }): string =>
  content.map((block) => ('text' in block ? block.text : '')).join('');

/** Reads a raw stream by hand. */
async function collect(stream: AsyncIterable<Anthropic.RawMessageStreamEvent>): Promise<{ content: Anthropic.ContentBlock[] }> {
  const content: Anthropic.ContentBlock[] = [];
  let json = '';
  for await (const event of stream) {
    if (event.type === 'content_block_start') content[event.index] = event.content_block;
    const block = 'index' in event ? content[event.index] : undefined;
    if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta') json += event.delta.partial_json;
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta' && block?.type === 'text')
      block.text += event.delta.text;
    if (event.type === 'content_block_stop' && block?.type === 'tool_use') block.input = JSON.parse(json);
  }
  return { content };
}

describe('the Anthropic client over a compacting fetch', () => {
  it.each(['create', 'stream: true', 'stream()'] as const)('keeps a tool loop over %s inside its window', async (how) => {
    const fetch = fetchWith();
    expect(await work(clientWith(fetch), 'alpha', how)).toBe('Task alpha is done.');
    expectCompactions();
    expect(model.turns()).toHaveLength(pages + 1);
    for (const body of model.turns()) expect(inputTokensOf(body)).toBeLessThan(4000);
    for (const body of model.summaries()) expect(body).toMatchObject({ system: 'Be exact.', tools });
    for (const body of model.summaries()) expect(body.stream).toBe(how === 'create' ? undefined : true);
    const last = model.turns().at(-1)!;
    await expect.poll(() => fetch.compactor.estimate(last).sources.tokens).toBe('usage');
    expect(fetch.compactor.estimate(last).tokens).toBe(inputTokensOf(last));
  });

  it.each([false, true])('keeps a run of the SDK’s own tool runner inside its window (stream: %s)', async (stream) => {
    const read = betaTool({
      name: 'read',
      description: 'Reads a page.',
      inputSchema: input_schema,
      run: (input) => pageOf(input),
    });
    const runner = clientWith().beta.messages.toolRunner({
      ...base,
      tools: [read],
      messages: [{ role: 'user', content: 'Task beta' }],
      stream,
      thread: false,
    });
    expect(textOf(await runner.runUntilDone())).toBe('Task beta is done.');
    expectCompactions();
  });

  it('a conversation that the server holds passes through, and is reported once', async () => {
    const read = betaTool({
      name: 'read',
      description: 'Reads a page.',
      inputSchema: input_schema,
      run: (input) => pageOf(input),
    });
    const messages = [{ role: 'user' as const, content: `Task beta ${'x'.repeat(20_000)}` }];
    const client = clientWith();
    for (let run = 0; run < 2; run++) await client.beta.messages.toolRunner({ ...base, tools: [read], messages }).runUntilDone();
    expect(model.turns().map(({ thread }) => thread.type)).toEqual(['create', 'continue', 'create', 'continue']);
    expect(model.summaries()).toEqual([]);
    expect(noticesOf(model.events)).toEqual(['server-held']);
  });

  it('the summary request goes to the same address with the same headers', async () => {
    await work(
      clientWith(undefined, { defaultHeaders: { 'anthropic-beta': 'one,two', 'x-tenant': 'blue' } }),
      'gamma',
      'stream()',
    );
    const index = model.received.findIndex((call) => isSummaryRequest(bodyOf(call)));
    const [before, summary, after] = model.received.slice(index - 1);
    expect(summary!.path).toBe(after!.path);
    const { 'content-length': _summary, ...headers } = summary!.headers;
    const { 'content-length': _after, ...expected } = after!.headers;
    expect(headers).toEqual(expected);
    expect(headers).toMatchObject({ authorization: `Bearer ${secret}`, 'anthropic-beta': 'one,two', 'x-tenant': 'blue' });
    const sent = JSON.stringify(bodyOf(summary!).messages);
    expect(sent.startsWith(JSON.stringify(bodyOf(before!).messages).slice(0, -1))).toBe(true);
  });

  it.each([529, 500])('a retry of the SDK after a %d sends the same bytes again, and compacts nothing twice', async (status) => {
    let attempts = 0;
    model.intercept = (call, response) => {
      if (isSummaryRequest(bodyOf(call)) || ++attempts % 2 === 0) return false;
      const error = { type: 'overloaded_error', message: 'Overloaded' };
      sendJson(response, status, { type: 'error', error }, { 'retry-after-ms': '1' });
      return true;
    };
    expect(await work(clientWith(undefined, { maxRetries: 2 }), 'delta', 'stream()')).toBe('Task delta is done.');
    expectCompactions();
    const turns = model.received.filter((call) => !isSummaryRequest(bodyOf(call)));
    expect(turns).toHaveLength(2 * (pages + 1));
    for (let index = 0; index < turns.length; index += 2) expect(turns[index]!.bytes.equals(turns[index + 1]!.bytes)).toBe(true);
  });

  it('an error event in the middle of the summary’s stream is tried once more', async () => {
    let asked = 0;
    model.intercept = (call, response) => {
      if (!isSummaryRequest(bodyOf(call)) || ++asked > 1) return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
      response.end(`event: error\ndata: ${JSON.stringify(error)}\n\n`);
      return true;
    };
    expect(await work(clientWith(), 'epsilon', 'stream()')).toBe('Task epsilon is done.');
    expect(lifecycleOf(model.events).slice(0, 2)).toEqual(['started', 'applied']);
    expect(asked).toBe(model.summaries().length);
    expect(model.summaries().length).toBe(lifecycleOf(model.events).length / 2 + 1);
  });

  it('counting and batches pass through byte for byte', async () => {
    const client = clientWith();
    const messages: Anthropic.MessageParam[] = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'x'.repeat(30_000) },
    ];
    await client.messages.countTokens({ model: 'claude-test', messages, tools });
    await client.beta.messages.countTokens({ model: 'claude-test', messages });
    await client.messages.batches.create({ requests: [{ custom_id: 'one', params: { ...base, messages } }] });
    await client.beta.files.upload({ file: new File([new Uint8Array([0, 255, 128])], 'a.bin') });
    expect(model.received.map(({ path }) => path)).toEqual([
      '/v1/messages/count_tokens',
      '/v1/messages/count_tokens',
      '/v1/messages/batches',
      '/v1/files',
    ]);
    expect(bodyOf(model.received[0]!).messages).toEqual(messages);
    expect(model.received[3]!.bytes.includes(Buffer.from([0, 255, 128]))).toBe(true);
    expect(model.events).toEqual([]);
  });

  it('withResponse, asResponse and the middleware of the SDK see the provider’s response', async () => {
    const request = { ...base, messages: [{ role: 'user' as const, content: 'Hello' }] };
    const { data, response, request_id } = await clientWith().messages.create(request).withResponse();
    expect(textOf(data)).toBe('Task none is done.');
    expect(request_id).toBe('req_1');
    expect(response).toMatchObject({ url: `${model.url}/v1/messages`, status: 200 });
    const raw = await clientWith()
      .messages.create({ ...request, stream: true })
      .asResponse();
    expect(await raw.text()).toContain('event: message_stop');
    const stream = clientWith().messages.stream(request);
    expect((await stream.withResponse()).request_id).toBeNull();
    expect(textOf(await stream.finalMessage())).toBe('Task none is done.');
  });

  it('an abort while the reply streams ends the connection', async () => {
    model.intercept = (call, response) => {
      const message = { id: 'm', type: 'message', role: 'assistant', model: 'claude-test', content: [], stop_reason: null };
      const start = { type: 'message_start', message: { ...message, usage: { input_tokens: 1, output_tokens: 1 } } };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: message_start\ndata: ${JSON.stringify(start)}\n\n`);
      return call.path.startsWith('/v1/messages');
    };
    const fetch = fetchWith();
    const request = { ...base, messages: [{ role: 'user' as const, content: 'Hello' }] };
    const stream = clientWith(fetch).messages.stream(request);
    stream.on('streamEvent', () => stream.abort());
    await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError);
    await model.received[0]!.lost;
    // What a message says at its start may be a placeholder.
    expect(fetch.compactor.estimate({ ...request, stream: true }).sources.tokens).toBe('estimate');
  });
});
