import { gzipSync } from 'node:zlib';
import OpenAI, { AzureOpenAI } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openaiChat } from '../src/adapters/openai-chat.ts';
import { openaiResponses } from '../src/adapters/openai-responses.ts';
import { compactingFetch } from '../src/fetch.ts';
import { validateOpenAiChat } from '../src/testing/wire/openai-chat.ts';
import { validateOpenAiResponses } from '../src/testing/wire/openai-responses.ts';
import { eventOf, lifecycleOf, noticesOf } from './support/harness.ts';
import { bodyOf, isSummaryRequest } from './support/provider-server.ts';
import { inputTokensOf, sendChatReply, sendJson, sendResponsesReply } from './support/reply-formats.ts';
import { goodSummary } from './support/scripted-model.ts';
import { pageOf, pages, smallWindow, startWorkingModel, type WorkingModel } from './support/working-model.ts';

const system = { role: 'system', content: 'Be exact.' } as const;
const secret = 'sk-very-secret-key';

/** Compacted twice and more, every time in order. */
function expectCompactions({ events, summaries }: WorkingModel, failedAttempts = 0): void {
  const ends = lifecycleOf(events);
  expect(ends.length).toBeGreaterThanOrEqual(4);
  expect(ends).toEqual(ends.map((_, index) => (index % 2 === 0 ? 'started' : 'applied')));
  expect(summaries()).toHaveLength(ends.length / 2 + failedAttempts);
  expect(noticesOf(events)).toEqual([]);
}

describe('Chat Completions', () => {
  let model: WorkingModel;
  beforeAll(async () => {
    model = await startWorkingModel(sendChatReply, (path) => /\/chat\/completions(\?|$)/.test(path));
  });
  afterAll(() => model.close());
  beforeEach(() => model.reset());

  const fetchWith = (options: object = {}) =>
    compactingFetch({ adapter: openaiChat(), ...smallWindow, onEvent: model.onEvent, ...options });
  const clientWith = (fetch = fetchWith(), options: object = {}) =>
    new OpenAI({ apiKey: secret, baseURL: `${model.url}/v1`, maxRetries: 0, logLevel: 'off', fetch, ...options });
  const tools: OpenAI.ChatCompletionTool[] = [
    { type: 'function', function: { name: 'read', parameters: { type: 'object', properties: { page: { type: 'number' } } } } },
  ];
  const runnableTools = [
    {
      type: 'function' as const,
      function: {
        name: 'read',
        description: 'Reads a page.',
        parameters: { type: 'object', properties: { page: { type: 'number' } } },
        parse: JSON.parse,
        function: async (input: object) => pageOf(input),
      },
    },
  ];

  /** A host's own loop: its messages grow without end. */
  async function work(client: OpenAI, task: string, stream: boolean): Promise<string | null> {
    const messages: OpenAI.ChatCompletionMessageParam[] = [system, { role: 'user', content: `Task ${task}` }];
    for (;;) {
      const request = { model: 'gpt-5', messages, tools };
      const completion = stream
        ? await client.chat.completions.stream({ ...request, stream_options: { include_usage: true } }).finalChatCompletion()
        : await client.chat.completions.create(request);
      const message = completion.choices[0]!.message;
      messages.push(message);
      if (!message.tool_calls?.length) return message.content;
      for (const call of message.tool_calls)
        if (call.type === 'function')
          messages.push({ role: 'tool', tool_call_id: call.id, content: pageOf(JSON.parse(call.function.arguments)) });
    }
  }

  const validateAll = () => [...model.summaries(), ...model.turns()].flatMap((body) => validateOpenAiChat(body));

  it.each([
    ['create', false],
    ['stream()', true],
  ])('keeps a tool loop over %s inside its window', async (_name, stream) => {
    expect(await work(clientWith(), 'alpha', stream)).toBe('Task alpha is done.');
    expectCompactions(model);
    expect(model.turns()).toHaveLength(pages + 1);
    expect(validateAll()).toEqual([]);
    for (const body of model.turns()) expect(inputTokensOf(body)).toBeLessThan(4000);
    for (const body of model.summaries()) expect(body.stream).toBe(stream ? true : undefined);
    expect(JSON.stringify(model.turns().at(-1)).split('<compacted_context').length).toBe(2);
  });

  it('keeps a run of the SDK’s own tool runner inside its window, streamed or not', async () => {
    const request = { model: 'gpt-5', tools: runnableTools, messages: [system, { role: 'user' as const, content: 'Task beta' }] };
    expect(await clientWith().chat.completions.runTools(request).finalContent()).toBe('Task beta is done.');
    expectCompactions(model);
    expect(validateAll()).toEqual([]);
    model.reset();
    const streaming = clientWith().chat.completions.runTools({ ...request, stream: true });
    expect(await streaming.finalContent()).toBe('Task beta is done.');
    expectCompactions(model);
    expect(validateAll()).toEqual([]);
  });

  it('reads a stream piece by piece', async () => {
    const stream = await clientWith().chat.completions.create({
      model: 'gpt-5',
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
    });
    const pieces = [];
    for await (const { choices } of stream) pieces.push(choices[0]?.delta.content);
    expect(pieces.join('')).toBe('Task none is done.');
  });

  it('the summary request is the parent’s with one message more, to the same address with the same headers', async () => {
    await work(
      clientWith(undefined, {
        defaultHeaders: { 'x-tenant': 'blue', 'Idempotency-Key': 'once' },
        defaultQuery: { 'api-version': 'v9' },
      }),
      'gamma',
      false,
    );
    const summary = model.received.find((call) => isSummaryRequest(bodyOf(call)))!;
    const turn = model.received[model.received.indexOf(summary) + 1]!;
    const last = model.received[model.received.indexOf(summary) - 1]!;
    expect(summary.method).toBe('POST');
    expect(summary.path).toBe('/v1/chat/completions?api-version=v9');
    const { 'content-length': _summaryLength, ...headers } = summary.headers;
    const { 'content-length': _turnLength, 'idempotency-key': key, ...turnHeaders } = turn.headers;
    expect(headers).toEqual(turnHeaders);
    expect(headers).toMatchObject({ authorization: `Bearer ${secret}`, 'x-tenant': 'blue' });
    expect(headers).not.toHaveProperty('idempotency-key');
    expect(key).toBe('once');
    const { messages } = bodyOf(summary);
    expect(JSON.stringify(messages).startsWith(JSON.stringify(bodyOf(last).messages).slice(0, -1))).toBe(true);
    expect(bodyOf(summary)).toMatchObject({ tools, tool_choice: 'none' });
    expect(JSON.stringify(bodyOf(turn))).toContain(JSON.stringify(goodSummary).slice(1, -1));
    expect(eventOf(model.events.slice(0, 2), 'auto_compaction_applied')).toMatchObject({ prefix: 'kept', because: [] });
  });

  it('requests that need no compaction go out byte for byte, whatever they look like', async () => {
    const body = '{ "model":"gpt-5",\n "messages" : [ {"role":"user","content":"H\\u00e9llo"} ], "seed": 1.0 }';
    const fetch = fetchWith();
    const response = await fetch(`${model.url}/v1/chat/completions`, { method: 'post', body });
    expect(await response.json()).toMatchObject({ object: 'chat.completion' });
    expect(model.received[0]!.bytes.toString()).toBe(body);
    expect(model.events).toEqual([]);
  });

  it('other endpoints, methods and bodies pass through byte for byte', async () => {
    const fetch = fetchWith();
    const client = clientWith(fetch);
    const bytes = new Uint8Array(70_000).map((_, index) => (index * 31) % 256);
    model.intercept = ({ path }, response) => {
      sendJson(response, 200, { path });
      return true;
    };
    await client.embeddings.create({ model: 'e', input: 'x'.repeat(20_000) });
    await client.files.create({ purpose: 'assistants', file: new File([bytes], 'a.bin') });
    await client.chat.completions.update('chatcmpl_1', { metadata: { a: 'b' } });
    await client.chat.completions.list();
    await client.responses.create({ model: 'gpt-5', input: 'x'.repeat(20_000) });
    const url = `${model.url}/v1/chat/completions`;
    const json = JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }] });
    await fetch(url, { method: 'PUT', body: json });
    await fetch(url, { method: 'POST', body: 'no JSON' });
    await fetch(url, { method: 'POST', body: '[1]' });
    await fetch(url, { method: 'POST', body: new TextEncoder().encode(json) });
    await fetch(url, { method: 'POST', body: new Blob([json]).stream(), duplex: 'half' } as RequestInit);
    await fetch(new Request(url, { method: 'POST', body: json }));
    await fetch(url);
    expect(model.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/embeddings',
      'POST /v1/files',
      'POST /v1/chat/completions/chatcmpl_1',
      'GET /v1/chat/completions',
      'POST /v1/responses',
      'PUT /v1/chat/completions',
      ...Array(5).fill('POST /v1/chat/completions'),
      'GET /v1/chat/completions',
    ]);
    expect(model.received[1]!.bytes.includes(Buffer.from(bytes))).toBe(true);
    expect(model.received.slice(5, -1).map((call) => call.bytes.toString())).toEqual([json, 'no JSON', '[1]', json, json, json]);
    expect(model.events).toMatchObject([{ type: 'notice', code: 'other-endpoint' }]);
  });

  it('works under other base paths: Azure, a proxy', async () => {
    const azure = new AzureOpenAI({
      endpoint: model.url,
      apiKey: secret,
      apiVersion: '2026-01-01',
      deployment: 'mine',
      maxRetries: 0,
      logLevel: 'off',
      fetch: fetchWith(),
    });
    expect(await work(azure, 'epsilon', false)).toBe('Task epsilon is done.');
    expectCompactions(model);
    expect(new Set(model.received.map(({ path, headers }) => `${path} ${headers['api-key']}`))).toEqual(
      new Set([`/openai/deployments/mine/chat/completions?api-version=2026-01-01 ${secret}`]),
    );
    model.reset();
    const proxied = clientWith(undefined, { baseURL: `${model.url}/team/openai/api` });
    expect(await work(proxied, 'epsilon', true)).toBe('Task epsilon is done.');
    expectCompactions(model);
  });

  it('a retry of the SDK sends the same bytes again, and compacts nothing twice', async () => {
    let refused = 0;
    model.intercept = (call, response) => {
      if (isSummaryRequest(bodyOf(call)) || ++refused % 2 === 0) return false;
      sendJson(response, refused % 4 === 1 ? 500 : 429, { error: { message: 'busy' } }, { 'retry-after-ms': '1' });
      return true;
    };
    expect(await work(clientWith(undefined, { maxRetries: 2 }), 'zeta', false)).toBe('Task zeta is done.');
    expectCompactions(model);
    const turns = model.received.filter((call) => !isSummaryRequest(bodyOf(call)));
    expect(turns).toHaveLength(2 * (pages + 1));
    for (let index = 0; index < turns.length; index += 2) {
      expect(turns[index]!.bytes.equals(turns[index + 1]!.bytes)).toBe(true);
      expect(turns[index + 1]!.headers['x-stainless-retry-count']).toBe('1');
    }
  });

  it('two conversations through one client keep apart', async () => {
    const client = clientWith();
    expect(await Promise.all([work(client, 'eta', true), work(client, 'theta', false), work(client, 'iota', false)])).toEqual([
      'Task eta is done.',
      'Task theta is done.',
      'Task iota is done.',
    ]);
    expect(model.summaries().length).toBeGreaterThanOrEqual(6);
    expect(validateAll()).toEqual([]);
    for (const body of model.turns()) expect(new Set(JSON.stringify(body).match(/Task \w+/g)).size).toBe(1);
  });

  it('usage in the reply makes the estimate exact, streamed or not', async () => {
    const fetch = fetchWith();
    const client = clientWith(fetch);
    for (const stream of [true, false]) {
      model.reset();
      await work(client, `kappa${stream}`, stream);
      const last = model.turns().at(-1)!;
      await expect.poll(() => fetch.compactor.estimate(last)).toMatchObject({ tokens: inputTokensOf(last) });
      expect(fetch.compactor.estimate(last).sources.tokens).toBe('usage');
    }
  });

  it('a client that walks away from a stream ends the connection, and what it did not read counts for nothing', async () => {
    const fetch = fetchWith();
    const client = clientWith(fetch);
    model.intercept = (_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hi' } }], usage: { prompt_tokens: 99, completion_tokens: 1 } })}\n\n`,
      );
      return true;
    };
    const request = { model: 'gpt-5', messages: [{ role: 'user' as const, content: 'Hello' }], stream: true as const };
    for await (const _chunk of await client.chat.completions.create(request)) break;
    await model.received[0]!.lost;
    expect(fetch.compactor.estimate(request).sources.tokens).toBe('estimate');
  });

  /** Due for compaction with the first call. */
  const longTalk: OpenAI.ChatCompletionCreateParamsNonStreaming = {
    model: 'gpt-5',
    tools,
    messages: [
      system,
      { role: 'user', content: 'Read it.' },
      { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'read', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c', content: pageOf({}).repeat(4) },
    ],
  };

  it('a client whose patience ends during the summary gets its turn with the full history', async () => {
    model.intercept = (call) => isSummaryRequest(bodyOf(call)); // never answered
    const client = clientWith(undefined, { timeout: 300, maxRetries: 1 });
    expect(await client.chat.completions.create(longTalk)).toMatchObject({ object: 'chat.completion' });
    expect(lifecycleOf(model.events)).toEqual(['started', 'cancelled by parent']);
    expect(model.turns().map(({ messages }) => messages.length)).toEqual([4]);
    await model.received[0]!.lost;
  });

  it('an abort during the summary rejects as the client does, and ends both', async () => {
    const controller = new AbortController();
    model.intercept = (call, response) => {
      if (!isSummaryRequest(bodyOf(call))) return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{');
      controller.abort();
      return true;
    };
    const call = clientWith(undefined, { maxRetries: 2 }).chat.completions.create(longTalk, { signal: controller.signal });
    await expect(call).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    await model.received[0]!.lost;
    expect(model.received).toHaveLength(1);
    expect(lifecycleOf(model.events)).toEqual(['started', 'cancelled by parent']);
  });

  it('errors of the provider reach the client as they are', async () => {
    model.intercept = (_call, response) => {
      const error = { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded', param: 'messages' };
      sendJson(response, 400, { error }, { 'x-request-id': 'req_7' });
      return true;
    };
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    const call = clientWith().chat.completions.create({ model: 'gpt-5', messages });
    await expect(call).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded', requestID: 'req_7' });
  });

  it('a summary that the provider refuses costs nothing but itself, and its error holds no secret', async () => {
    const refuse = { status: 401, body: { error: { message: 'Incorrect API key provided.', code: 'invalid_api_key' } } };
    model.intercept = (call, response) => {
      if (!isSummaryRequest(bodyOf(call))) return false;
      sendJson(response, refuse.status, refuse.body, { 'set-cookie': `session=${secret}`, 'x-request-id': 'req_8' });
      return true;
    };
    expect(await work(clientWith(), 'mu', false)).toBe('Task mu is done.');
    const [failed] = model.events.filter(({ type }) => type === 'auto_compaction_failed');
    expect(failed).toMatchObject({
      error: { code: 'summarizer-failed', cause: { status: 401, headers: { 'x-request-id': 'req_8' } } },
    });
    expect(model.turns().at(-1)!.messages).toHaveLength(2 + 2 * pages);
    const { inspect } = await import('node:util');
    expect(inspect(model.events, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain(secret);
    expect(JSON.stringify(model.events)).not.toContain(secret);
  });

  it('a busy provider is asked for the summary once more, when it says', async () => {
    let asked = 0;
    model.intercept = (call, response) => {
      if (!isSummaryRequest(bodyOf(call)) || ++asked > 1) return false;
      sendJson(response, 429, { error: { message: 'Too many requests' } }, { 'retry-after-ms': '20' });
      return true;
    };
    expect(await work(clientWith(), 'nu', true)).toBe('Task nu is done.');
    expectCompactions(model, 1);
  });

  it('a reply that comes compressed is read like any other', async () => {
    model.intercept = (_call, response) => {
      const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Grüße' } }];
      const usage = { prompt_tokens: 4321, completion_tokens: 1, total_tokens: 4322 };
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify({ object: 'chat.completion', choices, usage })));
      return true;
    };
    const fetch = fetchWith();
    const request = { model: 'gpt-5', messages: [{ role: 'user' as const, content: 'Hello' }] };
    const reply = await clientWith(fetch).chat.completions.create(request);
    expect(reply.choices[0]!.message.content).toBe('Grüße');
    await expect.poll(() => fetch.compactor.estimate(request).tokens).toBe(4321);
  });

  it('the response is the provider’s: address, headers, status, and a body that can be cloned', async () => {
    const { data, response } = await clientWith()
      .chat.completions.create({ model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }] })
      .withResponse();
    expect(data.choices[0]!.message.content).toBe('Task none is done.');
    expect(response).toBeInstanceOf(Response);
    expect(response).toMatchObject({
      url: `${model.url}/v1/chat/completions`,
      status: 200,
      statusText: 'OK',
      ok: true,
      type: 'basic',
    });
    const raw = await clientWith()
      .chat.completions.create({ model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }] })
      .asResponse();
    const copy = raw.clone();
    expect(copy.url).toBe(raw.url);
    expect(await copy.json()).toEqual(await raw.json());
    expect(raw.bodyUsed).toBe(true);
  });
});

describe('Responses', () => {
  let model: WorkingModel;
  beforeAll(async () => {
    model = await startWorkingModel(sendResponsesReply, (path) => path.endsWith('/responses'));
  });
  afterAll(() => model.close());
  beforeEach(() => model.reset());

  const fetchWith = () => compactingFetch({ adapter: openaiResponses(), ...smallWindow, onEvent: model.onEvent });
  const clientWith = (fetch = fetchWith()) =>
    new OpenAI({ apiKey: secret, baseURL: `${model.url}/v1`, maxRetries: 0, logLevel: 'off', fetch });
  const tools: OpenAI.Responses.Tool[] = [
    {
      type: 'function',
      name: 'read',
      strict: false,
      parameters: { type: 'object', properties: { page: { type: 'number' } } },
    },
  ];

  async function work(client: OpenAI, task: string, how: 'create' | 'stream: true' | 'stream()'): Promise<string> {
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: `Task ${task}` }];
    for (;;) {
      const request = { model: 'gpt-5', instructions: 'Be exact.', input, tools, store: false };
      let reply: OpenAI.Responses.Response | undefined;
      if (how === 'create') reply = await client.responses.create(request);
      else if (how === 'stream()') reply = await client.responses.stream(request).finalResponse();
      else
        for await (const event of await client.responses.create({ ...request, stream: true }))
          if (event.type === 'response.completed') reply = event.response;
      const calls = reply!.output.filter((item) => item.type === 'function_call');
      if (calls.length === 0)
        return reply!.output
          .flatMap((item) => (item.type === 'message' ? item.content : []))
          .map((part) => (part.type === 'output_text' ? part.text : ''))
          .join('');
      for (const { id, call_id, name, arguments: text } of calls)
        input.push(
          { type: 'function_call', id: id!, call_id, name, arguments: text },
          { type: 'function_call_output', call_id, output: pageOf(JSON.parse(text)) },
        );
    }
  }

  it.each(['create', 'stream: true', 'stream()'] as const)('keeps a tool loop over %s inside its window', async (how) => {
    const fetch = fetchWith();
    expect(await work(clientWith(fetch), 'alpha', how)).toBe('Task alpha is done.');
    expectCompactions(model);
    expect([...model.summaries(), ...model.turns()].flatMap((body) => validateOpenAiResponses(body))).toEqual([]);
    const last = model.turns().at(-1)!;
    await expect.poll(() => fetch.compactor.estimate(last).sources.tokens).toBe('usage');
    expect(fetch.compactor.estimate(last).tokens).toBe(inputTokensOf(last));
  });

  it('a conversation that the server holds passes through, and is reported once', async () => {
    const client = clientWith();
    const input = [{ role: 'user' as const, content: 'x'.repeat(30_000) }];
    for (let turn = 0; turn < 3; turn++) await client.responses.create({ model: 'gpt-5', input, conversation: 'conv_1' });
    expect(model.turns().map(({ conversation }) => conversation)).toEqual(['conv_1', 'conv_1', 'conv_1']);
    expect(model.summaries()).toEqual([]);
    expect(noticesOf(model.events)).toEqual(['server-held']);
  });

  it('goes on from what the server holds, and compacts that where it has seen it all', async () => {
    const client = clientWith();
    let input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Task beta' }];
    let previous: string | undefined;
    for (;;) {
      const chain = previous === undefined ? {} : { previous_response_id: previous };
      const reply = await client.responses.create({ model: 'gpt-5', instructions: 'Be exact.', input, tools, ...chain });
      previous = reply.id;
      const calls = reply.output.filter((item) => item.type === 'function_call');
      if (calls.length === 0) break;
      input = calls.map(({ call_id, arguments: text }) => ({
        type: 'function_call_output',
        call_id,
        output: pageOf(JSON.parse(text)),
      }));
    }
    expectCompactions(model);
    expect(previous).toBe(`resp_beta_${pages + 1}`);
    for (const body of model.summaries()) expect(body).toMatchObject({ store: false, previous_response_id: expect.any(String) });
    const rebuilt = model.turns().filter((body) => JSON.stringify(body).includes('<compacted_context'));
    expect(rebuilt).toHaveLength(model.summaries().length);
    for (const body of rebuilt) expect(body).not.toHaveProperty('previous_response_id');
  });

  it('counting, the provider’s own compaction and what is below a response pass through', async () => {
    const client = clientWith();
    const input = [{ role: 'user' as const, content: 'x'.repeat(30_000) }];
    await client.responses.inputTokens.count({ model: 'gpt-5', input });
    await client.responses.compact({ model: 'gpt-5', input });
    await client.responses.cancel('resp_1');
    await client.responses.retrieve('resp_1');
    expect(model.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/responses/input_tokens',
      'POST /v1/responses/compact',
      'POST /v1/responses/resp_1/cancel',
      'GET /v1/responses/resp_1',
    ]);
    expect(model.events).toEqual([]);
  });
});
