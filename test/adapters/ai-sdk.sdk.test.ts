import type { ServerResponse } from 'node:http';
import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import { generateText, streamText } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aiSdkModel } from '../../src/adapters/ai-sdk.ts';
import { aiSdkWires, type Body } from '../support/ai-sdk-wires.ts';
import { sendEvents, sendJson, startServer, type TestServer } from '../support/http-server.ts';

const adapter = aiSdkModel();

let answer: (body: Body, response: ServerResponse) => void;
let server: TestServer;
beforeAll(async () => {
  server = await startServer((body, response) => answer(body as Body, response));
});
afterAll(() => server.close());
beforeEach(() => {
  server.bodies.length = 0;
});

const callOptions: LanguageModelV3CallOptions = {
  prompt: [
    { role: 'system', content: 'Be exact.' },
    { role: 'user', content: [{ type: 'text', text: 'Read page 1.' }] },
  ],
  tools: [
    {
      type: 'function',
      name: 'read_page',
      inputSchema: { type: 'object', properties: { page: { type: 'number' } }, required: ['page'], additionalProperties: false },
    },
  ],
  maxOutputTokens: 500,
};

async function failure(action: () => PromiseLike<unknown>): Promise<unknown> {
  try {
    await action();
  } catch (error) {
    return error;
  }
  throw new Error('Expected an error.');
}

describe.each(aiSdkWires)('replies of $name', (wire) => {
  it('are read the same, whole or streamed, and what they add goes back', async () => {
    const model = wire.model(server.url);
    answer = (body, response) => wire.answer(body, response, { call: 1 });
    for (const ask of [() => model.doGenerate(callOptions), () => model.doStream(callOptions)]) {
      const { text, finish, calls, items, usage } = await adapter.readReply(await ask());
      expect({ text, finish }).toEqual({ text: '', finish: 'tool-calls' });
      expect(calls).toMatchObject([{ name: 'read_page', input: { page: 1 } }]);
      expect(usage?.inputTokens).toBe(Math.ceil(JSON.stringify(server.bodies.at(-1)).length / 4));
      const denial = adapter.writeMessage({
        role: 'tool',
        parts: [{ type: 'toolResult', callId: calls[0]!.id, content: [{ type: 'text', text: 'Denied.' }], isError: true }],
      });
      answer = (body, response) => wire.answer(body, response, { text: 'Then not.' });
      const next = await model.doGenerate(adapter.withItems(callOptions, [...callOptions.prompt, ...items, ...denial]));
      expect(wire.validate(server.bodies.at(-1))).toEqual([]);
      expect(await adapter.readReply(next)).toMatchObject({ text: 'Then not.', finish: 'stop', calls: [] });
      answer = (body, response) => wire.answer(body, response, { call: 1 });
    }
  });

  it('a summary request is sent as it should be', async () => {
    answer = (body, response) => wire.answer(body, response, { text: 'A summary.' });
    const model = wire.model(server.url);
    const { provider, modelId } = model;
    const parent = {
      ...callOptions,
      model: { provider, modelId },
      stopSequences: ['END'],
      toolChoice: { type: 'auto' as const },
    };
    await model.doGenerate(parent);
    const { request, changed } = adapter.forkForSummary(parent, 'Summarize.', { maxTokens: 700 });
    expect(await adapter.readReply(await model.doGenerate(request))).toMatchObject({ text: 'A summary.', finish: 'stop' });
    expect(changed).toEqual([]);
    const [sent, fork] = server.bodies as [Body, Body];
    expect(wire.validate(fork)).toEqual([]);
    expect(fork.tools).toEqual(sent.tools);
    // Where turns alternate, the instruction is part of the last message of the user.
    const prefix = JSON.stringify(wire.messages(sent)).replace(/[\]}]+$/, '');
    expect(JSON.stringify(wire.messages(fork)).startsWith(prefix)).toBe(true);
    expect(JSON.stringify(fork)).toContain('700');
    expect(JSON.stringify(fork)).not.toContain('END');
    if (provider.startsWith('anthropic')) expect(fork.tool_choice).toEqual(sent.tool_choice);
    else expect(fork.tool_choice).toBe('none');
  });

  it('a stream that is cut has no end, whatever text came', async () => {
    answer = (body, response) => {
      let held = '';
      const end = response.end.bind(response);
      const write = response.write.bind(response);
      // The first half of the events, and then nothing more.
      response.write = ((chunk: string) => {
        held += chunk;
        return true;
      }) as typeof response.write;
      response.end = (() => {
        const events = held.split('\n\n');
        const first = events.findIndex((event) => /"(?:delta|content)":"?[^}]*Half/.test(event));
        write(`${events.slice(0, first + 1).join('\n\n')}\n\n`);
        return end();
      }) as typeof response.end;
      wire.answer(body, response, { text: 'Half of a summary.' });
    };
    const { stream } = await wire.model(server.url).doStream(callOptions);
    const { finish, text } = await adapter.readReply({ stream });
    expect(text).toMatch(/^Half/);
    expect(finish).toBe('incomplete');
  });

  it('an abort in the middle of a stream rejects with its reason', async () => {
    answer = (body, response) => {
      response.end = (() => response) as typeof response.end; // the connection stays open
      wire.answer(body, response, { text: 'Never finished.' });
      response.flushHeaders();
    };
    const controller = new AbortController();
    const reason = new Error('enough');
    const { stream } = await wire.model(server.url).doStream(callOptions);
    const reading = adapter.readReply({ stream }, { signal: controller.signal, onText: () => controller.abort(reason) });
    expect(await failure(() => reading)).toBe(reason);
  });
});

describe('errors of the SDK', () => {
  const overflows: [wire: string, error: object][] = [
    [
      'openai.chat',
      { message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 200010 tokens." },
    ],
    ['openai.responses, which reasons', { message: 'Your input exceeds the context window.', code: 'context_length_exceeded' }],
    ['anthropic.messages', { type: 'invalid_request_error', message: 'prompt is too long: 213462 tokens > 200000 maximum' }],
  ];
  const wireOf = (name: string) => aiSdkWires.find((wire) => wire.name === name)!;

  it.each(overflows)('an overflow of %s', async (name, error) => {
    answer = (_, response) => sendJson(response, 400, { type: 'error', error });
    const model = wireOf(name).model(server.url);
    for (const action of [
      () => model.doGenerate(callOptions),
      () => model.doStream(callOptions),
      () => generateText({ model, prompt: 'Hello' }),
    ])
      expect(adapter.classifyError(await failure(action))).toMatchObject({ kind: 'overflow' });
  });

  it('throttling, with the time to wait, also behind the retries of the SDK', async () => {
    answer = (_, response) =>
      sendJson(response, 429, { error: { message: 'Rate limit reached.', type: 'tokens' } }, { 'retry-after-ms': '7' });
    const model = wireOf('openai.chat').model(server.url);
    expect(adapter.classifyError(await failure(() => model.doGenerate(callOptions)))).toEqual({
      kind: 'retryable',
      retryAfter: 7,
    });
    const retried = await failure(() => generateText({ model, prompt: 'Hello', maxRetries: 1 }));
    expect(retried).toMatchObject({ name: 'AI_RetryError' });
    expect(adapter.classifyError(retried)).toEqual({ kind: 'retryable', retryAfter: 7 });
  });

  it('an overload, a lost connection, and a wrong key', async () => {
    const model = wireOf('anthropic.messages').model(server.url);
    answer = (_, response) =>
      sendJson(response, 529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
    expect(adapter.classifyError(await failure(() => model.doGenerate(callOptions))).kind).toBe('retryable');
    answer = (_, response) => void response.destroy();
    expect(adapter.classifyError(await failure(() => model.doGenerate(callOptions))).kind).toBe('retryable');
    const nowhere = wireOf('openai.chat').model('http://127.0.0.1:1');
    expect(adapter.classifyError(await failure(() => nowhere.doGenerate(callOptions))).kind).toBe('retryable');
    answer = (_, response) =>
      sendJson(response, 401, { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } });
    expect(adapter.classifyError(await failure(() => model.doGenerate(callOptions))).kind).toBe('fatal');
  });

  it('an error in the middle of a stream comes out of reading it', async () => {
    const model = wireOf('anthropic.messages').model(server.url);
    answer = (_, response) => {
      sendEvents(response, [
        {
          type: 'message_start',
          message: { id: 'm', type: 'message', role: 'assistant', content: [], usage: { input_tokens: 5, output_tokens: 1 } },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } },
        { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      ]);
      response.end();
    };
    const { stream } = await model.doStream(callOptions);
    expect(adapter.classifyError(await failure(() => adapter.readReply({ stream }))).kind).toBe('retryable');
  });

  it('an abort is nothing to try again', async () => {
    answer = () => undefined;
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    const model = wireOf('openai.chat').model(server.url);
    const error = await failure(() => model.doGenerate({ ...callOptions, abortSignal: controller.signal }));
    expect(adapter.classifyError(error).kind).toBe('fatal');
    const result = streamText({ model, prompt: 'Hello', abortSignal: AbortSignal.abort(), onError: () => undefined });
    await result.consumeStream();
  });
});
