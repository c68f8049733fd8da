import Anthropic from '@anthropic-ai/sdk';
import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages';
import { buildAutoCompactionPrompt } from 'context-compactor';
import { anthropicMessages } from 'context-compactor/anthropic';
import { openaiChat } from 'context-compactor/openai-chat';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import OpenAI from 'openai';
import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prefixReuse } from '../demo/proxy/figures.ts';
import { type ModelServer, startModelServer } from '../demo/proxy/model-server.ts';
import { type RecordingProxy, startRecordingProxy } from '../demo/proxy/recording-proxy.ts';

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
    expect(proxy.records[0]).toMatchObject({ provider: 'openai-chat', purpose: 'turn', problems: [] });
  });

  it('keeps the requests of both providers in their order', async () => {
    await openai().chat.completions.create(chat('one'));
    await anthropic().messages.create(messages('two'));
    expect(proxy.records.map(({ provider, userTexts }) => [provider, userTexts])).toEqual([
      ['openai-chat', [['one']]],
      ['anthropic', [['two']]],
    ]);
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
  it('is the count of the body, in a reply of OpenAI', async () => {
    const reply = await openai().chat.completions.create(chat('Hello there'));
    const prompt = recordedTokens();
    const completion = countTokens(modelText);
    expect(reply.usage).toEqual({ prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion });
  });

  it('is the count of the body, in a stream of OpenAI', async () => {
    const stream = await openai().chat.completions.create({
      ...chat('Hello there'),
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
    expect(text).toBe(modelText);
    expect(usage).toMatchObject({ prompt_tokens: recordedTokens(), completion_tokens: countTokens(modelText) });
  });

  it('is the count of the body, in a reply of Anthropic', async () => {
    const reply = await anthropic().messages.create(messages('Hello there'));
    expect(reply.usage).toMatchObject({ input_tokens: recordedTokens(), output_tokens: countTokens(modelText) });
  });

  it('is the count of the body, in a stream of Anthropic', async () => {
    const reply = await anthropic().messages.stream(messages('Hello there')).finalMessage();
    expect(reply.content).toMatchObject([{ type: 'text', text: modelText }]);
    expect(reply.usage).toMatchObject({ input_tokens: recordedTokens(), output_tokens: countTokens(modelText) });
  });
});

describe('refusals', () => {
  const tooLong = 'word '.repeat(4000);

  it('are those of OpenAI for a body over the window', async () => {
    const error: unknown = await openai()
      .chat.completions.create(chat(tooLong))
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: 'context_length_exceeded', param: 'messages', type: 'invalid_request_error' });
    expect(openaiChat().classifyError(error).kind).toBe('overflow');
    expect(turns).toBe(0);
  });

  it('are those of Anthropic for a body over the window', async () => {
    const error: unknown = await anthropic()
      .messages.create(messages(tooLong))
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    expect(String(error)).toContain(`prompt is too long: ${recordedTokens()} tokens > ${contextWindow} maximum`);
    expect(anthropicMessages().classifyError(error).kind).toBe('overflow');
    expect(turns).toBe(0);
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

  it.each(['no json', '[]', 'null', '{}', '{"messages":7}'])('answer the body %s with an error', async (body) => {
    for (const path of ['/v1/chat/completions', '/v1/messages']) expect((await post(path, body)).status).toBe(400);
  });
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

  it('can be streamed', async () => {
    const stream = await openai().chat.completions.create({ ...chat(instruction), stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text.trim()).not.toBe('');
    expect(turns).toBe(0);
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

  it('count only a body whose every block was received', async () => {
    await anthropic().messages.create(parent);
    await anthropic().messages.create(messages('Good bye'));
    const whole = JSON.stringify({ ...parent, messages: [...parent.messages, ...messages('Good bye').messages] });
    expect(proxy.countReceived('anthropic', whole)).toBe(countTokens(whole));
    expect(() => proxy.countReceived('anthropic', JSON.stringify(messages('Never sent')))).toThrow('never received');
  });
});
