import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';
import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import { bedrockConverse } from '../../src/adapters/bedrock.ts';
import { langchainMessages } from '../../src/adapters/langchain.ts';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import { openaiCodex } from '../../src/adapters/openai-codex.ts';
import { openaiResponses } from '../../src/adapters/openai-responses.ts';
import { createCompactor } from '../../src/compactor.ts';
import { noticesOf } from '../support/harness.ts';

// Whatever JavaScript lets through.
type Any = ProviderAdapter<object, unknown, unknown>;
const chat = openaiChat() as unknown as Any;
const responses = openaiResponses() as unknown as Any;
const codex = openaiCodex() as unknown as Any;
const bedrock = bedrockConverse() as unknown as Any;
const langchain = langchainMessages({ HumanMessage, AIMessage, ToolMessage, SystemMessage }) as unknown as Any;

const user = { role: 'user', content: 'Hello. '.repeat(1000) };
const critic = { role: 'critic', content: 'Bad.' };

it.each<[string, Any, object, string]>([
  [
    'a role of Chat',
    chat,
    { messages: [user, critic] },
    '`messages[1].role` to be system, developer, user, assistant, tool or function, got "critic"',
  ],
  [
    'a role of Responses',
    responses,
    { input: [user, critic] },
    '`input[1].role` to be user, assistant, system or developer, got "critic"',
  ],
  [
    'a role of Codex',
    codex,
    { input: [user, { type: 'message', ...critic }] },
    '`input[1].role` to be user, assistant, system or developer, got "critic"',
  ],
  [
    'a role of LangChain',
    langchain,
    { messages: [user, critic] },
    '`messages[1].role` to be human, ai, system or tool, got "critic"',
  ],
  ['messages for Responses', responses, { messages: [user] }, '`input`; this request has `messages`: is it for `openaiChat()`?'],
  ['messages for Codex', codex, { messages: [user] }, '`input`; this request has `messages`: is it for `openaiChat()`?'],
  [
    'contents for Bedrock',
    bedrock,
    { contents: 'Hello' },
    '`messages`; this request has `contents`: is it for `geminiContents()`?',
  ],
  ['input for Bedrock', bedrock, { input: 'Hello' }, '`messages`; this request has `input`: is it for `openaiResponses()`?'],
])('%s is named where it is read, and the request goes out as it is', async (_what, adapter, fields, reason) => {
  const events: Parameters<typeof noticesOf>[0][number][] = [];
  const compactor = createCompactor({
    adapter,
    contextWindow: 5000,
    onEvent: (event) => void events.push(event),
    send: async () => ({}),
  });
  const request = { model: 'm', ...fields };
  expect(await compactor.prepare(request)).toBe(request);
  expect(noticesOf(events)).toEqual(['unreadable-request']);
  await expect(compactor.compact(request)).rejects.toMatchObject({
    code: 'invalid-request',
    message: expect.stringContaining(`Expected ${reason}`),
  });
});

it.each([{ previous_response_id: 'resp_1' }, { conversation: 'conv_1' }, { prompt: { id: 'pmpt_1' } }, {}])(
  'a request of Responses needs no input with %j',
  (fields) => {
    expect(() => responses.context({ model: 'm', ...fields })).not.toThrow();
  },
);

describe('what is no reply', () => {
  it.each([
    [undefined, 'undefined'],
    [{ role: 'assistant', content: 'Hi.' }, 'an object with the fields role, content'],
  ])('is told by what gave it back', async (reply, got) => {
    const message = `Expected \`send\` to give back a completion with \`choices\` or a stream of chunks, got ${got}.`;
    await expect(chat.readReply(reply)).rejects.toMatchObject({ code: 'invalid-request', message });
  });
});
