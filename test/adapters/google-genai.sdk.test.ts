import {
  ApiError,
  type CallableTool,
  type Content,
  type GenerateContentParameters,
  type GenerateContentResponse,
  GoogleGenAI,
} from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ReadReplyOptions, ReplySummary } from '../../src/adapters/adapter.ts';
import { type GeminiContent, type GeminiReply, geminiContents } from '../../src/adapters/google-genai.ts';
import { compactingFetch } from '../../src/fetch.ts';
import { scriptedSummary } from '../../src/testing/scripted-model.ts';
import { validateGemini } from '../../src/testing/wire/google-genai.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { type GeminiServer, startGeminiServer } from '../support/gemini-server.ts';

type Fields = Record<string, unknown>;

const adapter = geminiContents();
const model = 'gemini-3-pro';
const functions = [{ functionDeclarations: [{ name: 'read', parametersJsonSchema: { type: 'object' } }] }];
const request: GenerateContentParameters = {
  model,
  contents: [{ role: 'user', parts: [{ text: 'What is in a.ts?' }] }],
  config: { systemInstruction: 'Help.', tools: functions, maxOutputTokens: 4096, thinkingConfig: { thinkingBudget: 1024 } },
};

const usageMetadata = { promptTokenCount: 1000, cachedContentTokenCount: 850, candidatesTokenCount: 5, thoughtsTokenCount: 3 };
const expectedUsage = { inputTokens: 1000, outputTokens: 8, cachedInputTokens: 850, reasoningTokens: 3 };

const thought: Fields = { text: 'Hm.', thought: true };
const text: Fields = { text: 'SUMMARY' };
const call: Fields = { functionCall: { id: 'call_1', name: 'read', args: { path: 'a.ts' } }, thoughtSignature: 'c2ln' };

function response(parts: Fields[], finishReason?: string): Fields {
  return { candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason && { finishReason }) }], usageMetadata };
}

/** The pieces in which the provider streams a reply: text in two of them, and an empty one at the end. */
function chunksOf(parts: Fields[], finishReason: string): Fields[] {
  const pieces = parts.flatMap((part) => (part === text ? [{ text: 'SUM' }, { text: 'MARY' }] : [part]));
  return [...pieces.map((part) => response([part])), response([{ text: '' }], finishReason)];
}

let server: GeminiServer;
let ai: GoogleGenAI;

beforeAll(async () => {
  server = await startGeminiServer();
  ai = new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: server.baseUrl } });
});

beforeEach(() => {
  server.bodies.length = 0;
  server.methods.length = 0;
  server.aborted = 0;
});

afterAll(() => server.close());

function answerWith(parts: Fields[], finishReason: string): void {
  server.answer = (_, method) =>
    method === 'streamGenerateContent' ? { chunks: chunksOf(parts, finishReason) } : { response: response(parts, finishReason) };
}

type Generate = (params: GenerateContentParameters) => Promise<GeminiReply>;

/** The four ways in which the SDK gives a reply. */
const ways: [string, Generate][] = [
  ['models.generateContent', (params) => ai.models.generateContent(params)],
  ['models.generateContentStream', (params) => ai.models.generateContentStream(params)],
  ['a chat', (params) => chatOver(params).sendMessage(lastMessage(params))],
  ['a chat that streams', (params) => chatOver(params).sendMessageStream(lastMessage(params))],
];
const streams = ways.filter(([name]) => /stream/i.test(name));

function chatOver({ contents, config }: GenerateContentParameters) {
  return ai.chats.create({ model, history: (contents as Content[]).slice(0, -1), ...(config && { config }) });
}

function lastMessage({ contents }: GenerateContentParameters) {
  return { message: (contents as Content[]).at(-1)?.parts ?? [] };
}

describe.each(ways)('through %s', (name, generate) => {
  async function ask(options: ReadReplyOptions = {}): Promise<ReplySummary<GeminiContent>> {
    return adapter.readReply(await generate(request), options);
  }

  it('reads a whole reply', async () => {
    answerWith([thought, text], 'STOP');
    const heard: string[] = [];
    const summary = await ask({ onText: (piece) => heard.push(piece) });
    expect(summary).toEqual({
      text: 'SUMMARY',
      finish: 'stop',
      calls: [],
      items: [{ role: 'model', parts: [thought, text] }],
      usage: expectedUsage,
    });
    expect(heard).toEqual(/stream/i.test(name) ? ['SUM', 'MARY'] : ['SUMMARY']);
  });

  it('carries a tool turn on, and asks for a summary of it', async () => {
    answerWith([thought, text, call], 'STOP');
    const summary = await ask();
    expect(summary).toMatchObject({
      finish: 'tool-calls',
      text: '',
      calls: [{ id: 'call_1', name: 'read', input: { path: 'a.ts' } }],
    });
    const results = adapter.writeMessage({
      role: 'tool',
      parts: summary.calls.map(({ id }) => ({ type: 'toolResult', callId: id, content: [{ type: 'text', text: 'export {}' }] })),
    });
    const continued = adapter.withItems(request, [...adapter.items(request), ...summary.items, ...results]);
    answerWith([text], 'STOP');
    const { request: forked, changed } = adapter.forkForSummary(continued, 'Summarize.', { maxTokens: 500 });
    expect(changed).toEqual([]);
    expect((await adapter.readReply(await generate(forked))).text).toBe('SUMMARY');
    const [first, second] = server.bodies;
    expect(server.bodies.flatMap(validateGemini)).toEqual([]);
    expect(second).toMatchObject({ systemInstruction: first?.systemInstruction, tools: first?.tools });
    expect(second?.generationConfig).toEqual({ maxOutputTokens: 1524, thinkingConfig: { thinkingBudget: 1024 } });
    expect(second?.toolConfig).toEqual({ functionCallingConfig: { mode: 'NONE' } });
    expect(second?.contents).toEqual([
      ...adapter.items(request),
      { role: 'model', parts: [thought, text, call] },
      { role: 'user', parts: [{ functionResponse: { id: 'call_1', name: 'read', response: { output: 'export {}' } } }] },
      { role: 'user', parts: [{ text: 'Summarize.' }] },
    ]);
  });

  it.each([
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content-filter'],
    ['PROHIBITED_CONTENT', 'content-filter'],
    ['MALFORMED_FUNCTION_CALL', 'other'],
  ])('reads the finish reason %s as %s', async (finishReason, finish) => {
    answerWith([text], finishReason);
    expect((await ask()).finish).toBe(finish);
  });

  it('reads a blocked prompt', async () => {
    const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 9 } };
    server.answer = (_, method) => (method === 'streamGenerateContent' ? { chunks: [blocked] } : { response: blocked });
    expect(await ask()).toMatchObject({ finish: 'content-filter', text: '', items: [], calls: [] });
  });

  it.each([
    [
      400,
      'INVALID_ARGUMENT',
      'The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).',
      { kind: 'overflow', limit: 1_048_576, requested: 1_196_265 },
    ],
    [503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.', { kind: 'retryable' }],
    [429, 'RESOURCE_EXHAUSTED', 'Quota exceeded for input_token_count, limit: 1000000', { kind: 'retryable', retryAfter: 7000 }],
    [400, 'INVALID_ARGUMENT', 'Please ensure that function call turn comes immediately after a user turn', { kind: 'fatal' }],
    [403, 'PERMISSION_DENIED', 'The caller does not have permission', { kind: 'fatal' }],
  ])('classifies the error %i %s: %s', async (status, word, message, expected) => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' }];
    server.answer = () => ({ status, error: { code: status, message, status: word, ...(status === 429 && { details }) } });
    const error = await ask().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(adapter.classifyError(error)).toEqual(expected);
  });
});

describe.each(streams)('a broken stream of %s', (_name, generate) => {
  const started = [response([thought]), response([text])];

  it('is incomplete where it ends without a finish reason', async () => {
    server.answer = () => ({ chunks: [...started, response([call])] });
    const summary = await adapter.readReply(await generate(request));
    expect(summary).toMatchObject({ finish: 'incomplete', calls: [{ name: 'read' }] });
    expect(summary.items).toEqual([{ role: 'model', parts: [thought, text, call] }]);
  });

  it('rejects with the error that comes in the middle', async () => {
    const error = { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' };
    server.answer = () => ({ chunks: [...started, { error }] });
    const thrown = await adapter.readReply(await generate(request)).catch((reason: unknown) => reason);
    expect(thrown).toBeInstanceOf(ApiError);
    expect(adapter.classifyError(thrown)).toEqual({ kind: 'retryable' });
  });

  it.each(['reset', 'half'] as const)('rejects with what may pass where the connection is lost (%s)', async (ending) => {
    server.answer = () => ({ chunks: started, ending });
    const thrown = await adapter.readReply(await generate(request)).catch((reason: unknown) => reason);
    expect(thrown).toBeInstanceOf(Error);
    expect(adapter.classifyError(thrown)).toEqual({ kind: 'retryable' });
  });

  it('rejects with the reason of an abort while it hangs, whether or not the client knows the signal', async () => {
    server.answer = () => ({ chunks: [response([{ text: 'SUM' }])], ending: 'hang' });
    for (const known of [true, false]) {
      const controller = new AbortController();
      const reason = new Error('enough');
      const config = { ...request.config, ...(known && { abortSignal: controller.signal }) };
      const stream = await generate({ ...request, config });
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

it('takes an abort before the reply for what it is', async () => {
  const abortSignal = AbortSignal.abort();
  const error = await ai.models.generateContent({ ...request, config: { abortSignal } }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'AbortError' });
  expect(adapter.classifyError(error)).toEqual({ kind: 'fatal' });
});

it('counts the first prompt where the SDK continued a long reply in another request', async () => {
  const content = (words: string): Fields => ({ role: 'model', parts: [{ text: words }] });
  const queue: Fields[] = [
    {
      candidates: [{ content: content('SUM'), finishReason: 'CONTINUATION', continuationToken: 'next' }],
      usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 7 },
    },
    {
      candidates: [{ content: content('MARY'), finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1007, candidatesTokenCount: 5 },
    },
  ];
  server.answer = () => ({ response: queue.shift() ?? {} });
  const reply = await ai.models.generateContent(request);
  expect(server.bodies).toHaveLength(2);
  expect(adapter.usage(reply)).toEqual({ inputTokens: 1000, outputTokens: 12 });
  expect(await adapter.readReply(reply)).toMatchObject({ text: 'SUMMARY', finish: 'stop' });
});

describe('tools that the SDK runs by itself', () => {
  const ran: unknown[] = [];
  const callable: CallableTool = {
    tool: async () => functions[0] ?? {},
    callTool: async (calls) => {
      ran.push(...calls);
      return calls.map(({ id, name }) => ({
        functionResponse: { ...(id && { id }), ...(name && { name }), response: { output: 'x' } },
      }));
    },
  };
  // As the tools of MCP clients do, it refers to itself.
  Object.assign(callable, { client: { tool: callable } });
  const automatic: GenerateContentParameters = { ...request, config: { ...request.config, tools: [callable] } };

  beforeEach(() => {
    ran.length = 0;
  });

  it('are not run by a summary request, which has the tools of its parent', async () => {
    answerWith([text, call], 'STOP');
    const { request: forked, changed } = adapter.forkForSummary(automatic, 'Summarize.', { maxTokens: 500 });
    expect(changed).toEqual([]);
    for (const generate of [ai.models.generateContent, ai.models.generateContentStream]) {
      const { calls } = await adapter.readReply(await generate(forked));
      expect(calls).toMatchObject([{ name: 'read' }]);
    }
    expect(ran).toEqual([]);
    expect(server.bodies).toHaveLength(2);
    for (const body of server.bodies) {
      expect(body.tools).toEqual(functions);
      expect(body.toolConfig).toEqual({ functionCallingConfig: { mode: 'NONE' } });
    }
  });

  it('make a reply whose usage is not that of the request', async () => {
    const answers = [response([call], 'STOP'), response([text], 'STOP')];
    server.answer = () => ({ response: answers.shift() ?? {} });
    const reply = await ai.models.generateContent(automatic);
    expect(ran).toHaveLength(1);
    expect(adapter.usage(reply)).toBeUndefined();
  });

  it('leave their results in a stream', async () => {
    const answers = [chunksOf([call], 'STOP'), chunksOf([text], 'STOP')];
    server.answer = () => ({ chunks: answers.shift() ?? [] });
    const summary = await adapter.readReply(await ai.models.generateContentStream({ ...automatic }));
    expect(summary).toMatchObject({ text: 'SUMMARY', finish: 'stop', calls: [], usage: undefined });
    expect(summary.items.map(({ role }) => role)).toEqual(['model', 'user', 'model']);
    expect(
      validateGemini(adapter.withItems(request, [...adapter.items(request), ...summary.items, ...said('And now?')])),
    ).toEqual([]);
  });
});

function said(words: string): GeminiContent[] {
  return adapter.writeMessage({ role: 'user', parts: [{ type: 'text', text: words }] });
}

/** A summary where one is asked for; otherwise what the conversation needs next. */
function answerLikeAModel(): void {
  server.answer = (body, method) => {
    const asked = JSON.stringify(body.contents).includes('This is a context compaction request.');
    const parts = [{ text: asked ? scriptedSummary : 'Noted. '.repeat(200) }];
    return method === 'streamGenerateContent' ? { chunks: chunksOf(parts, 'STOP') } : { response: response(parts, 'STOP') };
  };
}

const small = { adapter, contextWindow: 20_000, budget: { threshold: 1500 } };
const summariesIn = (bodies: Fields[]): Fields[] =>
  bodies.filter((body) => JSON.stringify(body.contents).includes('context compaction request'));

/** A chat stores each piece of a streamed reply as a content of its own, empty ones too, and sends them so. */
function expectAsValidAs(method: 'sendMessage' | 'sendMessageStream'): void {
  const ofTheChat = method === 'sendMessageStream' ? ['part-empty'] : [];
  expect(server.bodies.flatMap(validateGemini).filter(({ rule }) => !ofTheChat.includes(rule))).toEqual([]);
}

describe('a chat', () => {
  it.each(['sendMessage', 'sendMessageStream'] as const)('goes on as a new one over the prepared history: %s', async (method) => {
    answerLikeAModel();
    const config = { systemInstruction: 'Help.', maxOutputTokens: 1000 };
    const generate = withAutoCompaction(
      (sent: GenerateContentParameters, { signal }) =>
        ai.models.generateContent({ ...sent, config: { abortSignal: signal, ...sent.config } }),
      small,
    );
    let chat = ai.chats.create({ model, config });
    let compactions = 0;
    for (let turn = 1; turn <= 8; turn++) {
      const asked = [...chat.getHistory(true), { role: 'user', parts: [{ text: `Question ${turn}?` }] }];
      const { contents } = await generate.compactor.prepare({ model, config, contents: asked });
      if (contents !== asked) {
        compactions++;
        chat = ai.chats.create({ model, config, history: contents.slice(0, -1) });
      }
      const reply = await chat[method]({ message: contents.at(-1)?.parts ?? '' });
      if (Symbol.asyncIterator in reply) for await (const _ of reply);
    }
    expect(compactions).toBeGreaterThan(1);
    expect(summariesIn(server.bodies)).toHaveLength(compactions);
    expectAsValidAs(method);
    const last = JSON.stringify(server.bodies.at(-1));
    expect(last).toContain('Question 8?');
    expect(last.split('<compacted_context>')).toHaveLength(2);
    expect(last).not.toContain('Question 1?');
  });

  it.each(['sendMessage', 'sendMessageStream'] as const)('is compacted at the fetch of its client: %s', async (method) => {
    answerLikeAModel();
    const fetch = compactingFetch(small);
    const client = new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: server.baseUrl, fetch } });
    const chat = client.chats.create({ model, config: { systemInstruction: 'Help.', tools: functions } });
    for (let turn = 1; turn <= 8; turn++) {
      const reply = await chat[method]({ message: `Question ${turn}?` });
      if (Symbol.asyncIterator in reply) for await (const _ of reply);
    }
    expect(summariesIn(server.bodies).length).toBeGreaterThan(0);
    expectAsValidAs(method);
    expect(chat.getHistory().filter(({ role }) => role === 'user')).toHaveLength(8);
    expect(JSON.stringify(server.bodies.at(-1)).split('<compacted_context>')).toHaveLength(2);
  });
});

describe('the signal of a summary request', () => {
  const history: Content[] = [
    { role: 'user', parts: [{ text: 'Remember this. '.repeat(500) }] },
    { role: 'model', parts: [{ text: 'Noted.' }] },
    { role: 'user', parts: [{ text: 'What was it?' }] },
  ];
  const sendWithSignal = (sent: GenerateContentParameters, { signal }: { signal: AbortSignal }) =>
    ai.models.generateContent({ ...sent, config: { abortSignal: signal, ...sent.config } });
  /** Summaries never come; `onAsked` is called when one is asked for. */
  const hangForSummaries = (onAsked: () => void): void => {
    server.answer = (body) => {
      if (summariesIn([body]).length === 0) return { response: response([{ text: 'This.' }], 'STOP') };
      onAsked();
      return { chunks: [], ending: 'hang' };
    };
  };

  it('ends it alone where the compaction is cancelled', async () => {
    let cancel = (): void => {};
    hangForSummaries(() => cancel());
    const generate = withAutoCompaction(sendWithSignal, {
      ...small,
      onEvent: (event) => {
        if (event.type === 'auto_compaction_started') cancel = event.cancel;
      },
    });
    expect((await generate({ model, contents: history })).text).toBe('This.');
    expect(server.bodies).toHaveLength(2);
    await expect.poll(() => server.aborted).toBe(1);
  });

  it("is the caller's own where the request has one", async () => {
    const controller = new AbortController();
    hangForSummaries(() => controller.abort());
    const generate = withAutoCompaction(sendWithSignal, small);
    const reply = generate({ model, contents: history, config: { abortSignal: controller.signal } });
    await expect(reply).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.bodies).toHaveLength(1);
    await expect.poll(() => server.aborted).toBe(1);
  });
});

it('keeps a run of the SDK itself inside the window, at the fetch of its client', async () => {
  const tool: CallableTool = {
    tool: async () => functions[0] ?? {},
    callTool: async (calls) =>
      calls.map(() => ({ functionResponse: { name: 'read', response: { output: 'line '.repeat(600) } } })),
  };
  let calls = 0;
  server.answer = (body) => {
    if (JSON.stringify(body.contents).includes('context compaction request'))
      return { response: response([{ text: scriptedSummary }], 'STOP') };
    if (calls++ === 6) return { response: response([{ text: 'Done.' }], 'STOP') };
    const read = { functionCall: { name: 'read', args: { page: calls } }, thoughtSignature: 'c2ln' };
    return { response: response([read], 'STOP') };
  };
  const fetch = compactingFetch(small);
  const client = new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: server.baseUrl, fetch } });
  const reply: GenerateContentResponse = await client.models.generateContent({
    model,
    contents: 'Read all pages.',
    config: { tools: [tool] },
  });
  expect(reply.text).toBe('Done.');
  expect(summariesIn(server.bodies).length).toBeGreaterThan(0);
  expect(server.bodies.flatMap(validateGemini)).toEqual([]);
  const longest = Math.max(...server.bodies.map(({ contents }) => (contents as Content[]).length));
  expect(longest).toBeLessThan(13);
});
