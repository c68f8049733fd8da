import Anthropic from '@anthropic-ai/sdk';
import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages';
import { buildAutoCompactionPrompt } from 'context-compactor';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import OpenAI from 'openai';
import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prefixReuse } from '../demo/proxy/figures.ts';
import { type ModelServer, startModelServer } from '../demo/proxy/model-server.ts';
import { type RecordingProxy, startRecordingProxy } from '../demo/proxy/recording-proxy.ts';
import { buildReplacement } from '../src/prompt/replacement.ts';
import { type Answer, wireClients } from './support/wire-clients.ts';

const contextWindow = 3000;
const modelText = 'I am the model, and I wrote this.';

let turns = 0;
let model: ModelServer;
let proxy: RecordingProxy;

beforeEach(async () => {
  turns = 0;
  model = await startModelServer(() => {
    turns += 1;
    return { text: modelText, calls: [] };
  });
  proxy = await startRecordingProxy({ upstream: model.url, contextWindow });
});

afterEach(async () => {
  await proxy.close();
  await model.close();
});

const openai = (): OpenAI => new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: 'test', maxRetries: 0 });
const anthropic = (): Anthropic => new Anthropic({ baseURL: proxy.url, apiKey: 'test', maxRetries: 0 });

const chat = (text: string): ChatCompletionCreateParamsNonStreaming => ({
  model: 'scripted',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: text },
  ],
});
const messages = (text: string): MessageCreateParamsNonStreaming => ({
  model: 'scripted',
  max_tokens: 100,
  messages: [{ role: 'user', content: text }],
});

/** The count that the usage must have: that of the body as it was recorded. */
const recordedTokens = (): number => countTokens(new TextDecoder().decode(proxy.records.at(-1)!.raw));

async function post(path: string, body: string): Promise<Response> {
  return fetch(proxy.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

describe('recording', () => {
  it('keeps the bytes of a body as they came, whatever their spacing', async () => {
    const body = '{ "model": "scripted",\n  "messages": [{"role":"user","content":"f\\u00fcr 你好 🙂 <|endoftext|>"}] }';
    const reply = await post('/v1/chat/completions', body);
    expect(reply.status).toBe(200);
    expect(new TextDecoder().decode(proxy.records[0]!.raw)).toBe(body);
    expect(proxy.records[0]).toMatchObject({ wire: 'openai-chat', purpose: 'turn', problems: [] });
  });

  it('keeps the requests of all providers in their order', async () => {
    for (const { wire, stream } of wireClients) await stream(proxy.url, `from ${wire}`);
    expect(proxy.records.map(({ wire, userTexts }) => [wire, userTexts])).toEqual(
      wireClients.map(({ wire }) => [wire, [[`from ${wire}`]]]),
    );
  });

  it('passes everything on as it is when it only records', async () => {
    const recorder = await startRecordingProxy({ upstream: proxy.url });
    try {
      const client = new OpenAI({ baseURL: `${recorder.url}/v1`, apiKey: 'test', maxRetries: 0 });
      const reply = await client.chat.completions.create(chat('Hello'));
      expect(reply.choices[0]?.message.content).toBe(modelText);
      expect(recorder.records[0]!.raw).toEqual(proxy.records[0]!.raw);
      expect(reply.usage?.prompt_tokens).toBe(recordedTokens());
      await expect(client.chat.completions.create(chat('word '.repeat(4000)))).rejects.toMatchObject({
        code: 'context_length_exceeded',
      });
    } finally {
      await recorder.close();
    }
  });

  it('passes on what is no request to a model', async () => {
    const reply = await fetch(`${proxy.url}/v1/models`);
    expect(reply.status).toBe(200);
    expect(proxy.records).toEqual([]);
  });
});

describe('usage', () => {
  const expectCounted = (answer: Answer): void =>
    expect(answer).toEqual({ text: modelText, inputTokens: recordedTokens(), outputTokens: countTokens(modelText) });

  it.each(wireClients.filter(({ ask }) => ask))('is the count of the body, in a reply: $wire', async ({ ask }) => {
    expectCounted(await ask!(proxy.url, 'Hello there'));
  });

  it.each(wireClients)('is the count of the body, in a stream: $wire', async ({ stream }) => {
    expectCounted(await stream(proxy.url, 'Hello there'));
  });
});

describe('refusals', () => {
  const tooLong = 'word '.repeat(4000);

  it.each(wireClients)('are known for what they are, for a body over the window: $wire', async ({ stream, classifyError }) => {
    const error: unknown = await stream(proxy.url, tooLong).catch((reason: unknown) => reason);
    expect(classifyError(error).kind).toBe('overflow');
    expect(proxy.records).toHaveLength(1);
    expect(turns).toBe(0);
  });

  it('are those of OpenAI', async () => {
    const error: unknown = await openai()
      .chat.completions.create(chat(tooLong))
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: 'context_length_exceeded', param: 'messages', type: 'invalid_request_error' });
  });

  it('are those of Anthropic', async () => {
    const error: unknown = await anthropic()
      .messages.create(messages(tooLong))
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    expect(String(error)).toContain(`prompt is too long: ${recordedTokens()} tokens > ${contextWindow} maximum`);
  });

  it('count the output cap against the window', async () => {
    const error: unknown = await anthropic()
      .messages.create({ ...messages('Hello'), max_tokens: contextWindow })
      .catch((reason: unknown) => reason);
    expect(String(error)).toContain('input length and `max_tokens` exceed context limit');
  });

  it('name what is not valid, and record it', async () => {
    const orphan = { role: 'tool' as const, tool_call_id: 'call_1', content: 'nobody asked' };
    const error: unknown = await openai()
      .chat.completions.create({ ...chat('Hello'), messages: [orphan] })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(proxy.records[0]!.problems).not.toEqual([]);
    expect(turns).toBe(0);
  });

  const paths = [
    '/v1/chat/completions',
    '/v1/responses',
    '/backend-api/codex/responses',
    '/v1/messages',
    '/model/scripted/converse',
    '/v1beta/models/scripted:generateContent',
  ];

  it.each(['no json', '[]', 'null', '{}', '{"messages":7,"input":7,"contents":7}'])(
    'answer the body %s with an error',
    async (body) => {
      for (const path of paths) expect((await post(path, body)).status).toBe(400);
    },
  );
});

describe('summary requests', () => {
  const instruction = buildAutoCompactionPrompt();

  it('are recognised by their body and answered from it, not by the model', async () => {
    const reply = await openai().chat.completions.create({
      model: 'scripted',
      messages: [
        { role: 'user', content: 'Where is the harbour master? He must sign form 27.' },
        { role: 'assistant', content: 'Noted: the harbour master sits in room 14.' },
        { role: 'user', content: instruction },
      ],
    });
    expect(reply.choices[0]?.message.content).toContain('room 14');
    expect(reply.choices[0]?.message.content).not.toContain('context compaction request');
    expect(proxy.records[0]!.purpose).toBe('summary');
    expect(turns).toBe(0);
  });

  it('may share their message with tool results, as with Anthropic', async () => {
    const reply = await anthropic().messages.create({
      model: 'scripted',
      max_tokens: 500,
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'Where is the harbour master?' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Noted: the harbour master sits in room 14.' },
            { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: 'an empty chair' },
            { type: 'text', text: instruction },
          ],
        },
      ],
    });
    expect(reply.content).toMatchObject([{ type: 'text', text: expect.stringContaining('room 14') }]);
    expect(proxy.records[0]!.purpose).toBe('summary');
    expect(turns).toBe(0);
  });

  it.each(wireClients)('can be streamed: $wire', async ({ stream }) => {
    const { text } = await stream(proxy.url, instruction);
    expect(text).toContain('## Goal');
    expect(proxy.records[0]!.purpose).toBe('summary');
    expect(turns).toBe(0);
  });

  it('carry an earlier summary on, also one whose parts were joined on the way', async () => {
    const summary = '## Discoveries\n- The harbour master sits in room 14.';
    const question = { type: 'text' as const, text: 'Where is the harbour master?' };
    const parts = buildReplacement({ summary, lastUserMessage: [question] }).parts.filter((part) => part.type === 'text');
    for (const content of [parts, parts.map(({ text }) => text).join('')]) {
      const { choices } = await openai().chat.completions.create({
        model: 'scripted',
        messages: [
          { role: 'user', content },
          { role: 'assistant', content: 'I look on.' },
          { role: 'user', content: instruction },
        ],
      });
      expect(choices[0]?.message.content).toContain('- The harbour master sits in room 14.');
      expect(choices[0]?.message.content).not.toContain('generated record');
    }
  });

  it('are not mistaken for a turn that quotes the instruction further down', async () => {
    const summary = `<compacted_context>\n${'The agent read many files. '.repeat(20)}\n${instruction}\n</compacted_context>`;
    await openai().chat.completions.create(chat(summary));
    expect(proxy.records[0]!.purpose).toBe('turn');
    expect(turns).toBe(1);
  });
});

describe('figures', () => {
  const system = [{ type: 'text' as const, text: 'Be brief.', cache_control: { type: 'ephemeral' as const } }];
  const parent = { ...messages('Hello'), system };
  const instruction = { role: 'user' as const, content: buildAutoCompactionPrompt() };
  const answer = { role: 'assistant' as const, content: modelText };

  it('find the whole prefix reused when only cache markers differ', async () => {
    await anthropic().messages.create(parent);
    await anthropic().messages.create({
      ...parent,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [...parent.messages, answer, instruction],
    });
    expect(prefixReuse(proxy.records)).toEqual([1]);
  });

  it('find nothing reused when the system text differs, and a part when the last message does', async () => {
    await anthropic().messages.create(parent);
    await anthropic().messages.create({ ...parent, system: 'Be long.', messages: [...parent.messages, answer, instruction] });
    await anthropic().messages.create({ ...parent, messages: [{ role: 'user', content: 'Good bye' }, answer, instruction] });
    const [none, part] = prefixReuse(proxy.records);
    expect(none).toBe(0);
    expect(part).toBeGreaterThan(0);
    expect(part).toBeLessThan(1);
  });

  it('count what is not sent, where every block of it was received before', async () => {
    await anthropic().messages.create(parent);
    await anthropic().messages.create(messages('Good bye'));
    const whole = { ...parent, messages: [...parent.messages, ...messages('Good bye').messages] };
    const count = (request: MessageCreateParamsNonStreaming) => proxy.countUnsent(() => anthropic().messages.create(request));
    expect(await count(whole)).toBe(countTokens(JSON.stringify(whole)));
    await expect(count(messages('Never sent'))).rejects.toThrow('never received');
    await expect(proxy.countUnsent(async () => {})).rejects.toThrow('No request came');
    expect(proxy.records).toHaveLength(2);
    expect(turns).toBe(2);
  });

  it('leave cache points out, which are blocks of their own', async () => {
    const body = (...content: object[]) =>
      JSON.stringify({ messages: [{ role: 'user', content }], system: [{ text: 'Be brief.' }, cachePoint] });
    const cachePoint = { cachePoint: { type: 'default' } };
    await post('/model/scripted/converse', body({ text: 'Hello' }, cachePoint));
    await post('/model/scripted/converse', body({ text: 'Hello' }, { text: buildAutoCompactionPrompt() }, cachePoint));
    expect(prefixReuse(proxy.records)).toEqual([1]);
  });
});
