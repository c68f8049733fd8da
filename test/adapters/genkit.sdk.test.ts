import type { ServerResponse } from 'node:http';
import { openAICompatible } from '@genkit-ai/compat-oai';
import { GenerationBlockedError, type Genkit, genkit } from 'genkit';
import type { GenerateResponseData } from 'genkit/model';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { genkitModel } from '../../src/adapters/genkit.ts';
import { type ChatBody, sendWords, type Words } from '../support/genkit-openai-server.ts';
import { sendEvents, sendJson, startServer, type TestServer } from '../support/http-server.ts';

const adapter = genkitModel();

let answer: (response: ServerResponse, body: ChatBody) => void;
let server: TestServer;
let ai: Genkit;
beforeAll(async () => {
  server = await startServer((body, response) => answer(response, body as ChatBody)); // the client sent it
  ai = genkit({ plugins: [openAICompatible({ name: 'local', apiKey: 'test', baseURL: `${server.url}/v1`, maxRetries: 0 })] });
});
afterAll(() => server.close());
beforeEach(() => {
  answer = (response) => sendJson(response, 500, { error: { message: 'no answer set' } });
});

const says = (words: Words) => {
  answer = (response, body) => sendWords(response, body, words);
};
const fails = (status: number, error: object, headers: Record<string, string> = {}) => {
  answer = (response) => sendJson(response, status, { error }, headers);
};

interface AskOptions {
  streamed?: boolean;
  signal?: AbortSignal;
}

/** What a middleware sees of a call: the reply of the model, or its error. */
async function ask({ streamed = false, signal }: AskOptions = {}): Promise<GenerateResponseData> {
  let reply: GenerateResponseData | undefined;
  await ai.generate({
    model: 'local/some-model',
    prompt: 'Hello',
    returnToolRequests: true,
    ...(signal && { abortSignal: signal }),
    ...(streamed && { onChunk: () => {} }),
    use: [
      async (request: object, next: (request: object) => Promise<GenerateResponseData>) => {
        reply = await next(request);
        return reply;
      },
    ],
  });
  if (!reply) throw new Error('Expected a reply.');
  return reply;
}

const errorOf = (options: AskOptions = {}) =>
  ask(options).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('replies over the wire of OpenAI', () => {
  it.each([false, true])('are read with their usage, streamed: %s', async (streamed) => {
    says({ text: 'A short summary.' });
    const reply = await ask({ streamed });
    const read = await adapter.readReply(reply);
    expect(read).toMatchObject({ text: 'A short summary.', finish: 'stop', calls: [] });
    expect(read.items[0]).toEqual({ role: 'model', content: [{ text: 'A short summary.' }] });
    expect(read.usage?.outputTokens).toBe(5);
    expect(adapter.usage(reply)).toEqual(read.usage);
  });

  it.each([false, true])('that call tools are no summary, streamed: %s', async (streamed) => {
    says({
      text: 'Let me see.',
      calls: [
        { id: 'c1', name: 'read', input: { page: 1 } },
        { id: 'c2', name: 'read', input: {} },
      ],
    });
    expect(await adapter.readReply(await ask({ streamed }))).toMatchObject({
      text: '',
      finish: 'tool-calls',
      calls: [
        { id: 'c1', name: 'read', input: { page: 1 } },
        { id: 'c2', name: 'read', input: {} },
      ],
    });
  });

  it('that were cut or filtered do not end naturally', async () => {
    says({ text: 'Half a summ', finish: 'length' });
    expect((await adapter.readReply(await ask())).finish).toBe('length');
    says({ text: '', finish: 'content_filter' });
    const blocked = await errorOf();
    expect(blocked).toBeInstanceOf(GenerationBlockedError);
    expect(adapter.classifyError(blocked)).toEqual({ kind: 'fatal' });
  });
});

describe('errors over the wire of OpenAI', () => {
  it.each([
    [
      'an overflow',
      400,
      {
        message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 200010 tokens.",
        code: 'context_length_exceeded',
      },
      { kind: 'overflow', limit: 128_000, requested: 200_010 },
    ],
    [
      'an overflow that the plugin has no word for',
      413,
      { message: 'prompt is too long: 210000 tokens > 200000 maximum' },
      { kind: 'overflow', limit: 200_000, requested: 210_000 },
    ],
    ['a request that is wrong', 400, { message: 'Invalid value.' }, { kind: 'fatal' }],
    ['a key that is wrong', 401, { message: 'Incorrect API key provided.' }, { kind: 'fatal' }],
    ['a model that is not there', 404, { message: 'The model does not exist.' }, { kind: 'fatal' }],
    ['a server that is busy', 503, { message: 'The engine is currently overloaded.' }, { kind: 'retryable' }],
    ['a gateway that gave up', 502, { message: 'Bad gateway.' }, { kind: 'retryable' }],
  ])('tell %s', async (_, status, error, expected) => {
    fails(status, error);
    expect(adapter.classifyError(await errorOf())).toEqual(expected);
    expect(adapter.classifyError(await errorOf({ streamed: true }))).toEqual(expected);
  });

  it('tell how long to wait', async () => {
    fails(
      429,
      { message: 'Rate limit reached for some-model on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.' },
      { 'retry-after': '2' },
    );
    expect(adapter.classifyError(await errorOf())).toEqual({ kind: 'retryable', retryAfter: 2000 });
  });

  it('tell a lost connection', async () => {
    answer = (response) => response.destroy();
    const error = await errorOf();
    expect(error).toMatchObject({ status: 'UNKNOWN', code: 500 });
    expect(adapter.classifyError(error)).toEqual({ kind: 'retryable' });
  });

  it('tell an error in the middle of a stream', async () => {
    answer = (response) => {
      sendEvents(response, [
        {
          id: 'c',
          object: 'chat.completion.chunk',
          created: 1,
          model: 'm',
          choices: [{ index: 0, delta: { content: 'Half' }, finish_reason: null }],
        },
        { error: { message: 'The server had an error.', type: 'server_error' } },
      ]);
      response.end();
    };
    expect(adapter.classifyError(await errorOf({ streamed: true }))).toEqual({ kind: 'retryable' });
  });

  it.each([false, true])('tell an abort, which comes as one of an unknown kind, streamed: %s', async (streamed) => {
    const controller = new AbortController();
    answer = () => controller.abort(new Error('enough'));
    const error = await errorOf({ streamed, signal: controller.signal });
    expect(adapter.classifyError(error)).toEqual({ kind: 'fatal' });
  });
});
