import { describe, expect, it } from 'vitest';
import type { AnthropicMessage } from '../../src/adapters/anthropic.ts';
import { anthropicMessages } from '../../src/adapters/anthropic.ts';
import { type ChatMessage, openaiChat } from '../../src/adapters/openai-chat.ts';
import { CompactionError } from '../../src/errors.ts';
import { writeOrphanRecord } from '../../src/history/orphan-record.ts';
import { countReminders, divide, type RecognizeReplacement, recognizeBy } from '../../src/history/replaced.ts';
import { hasUserContent } from '../../src/history/turns.ts';
import type { MediaPart, Message, Part } from '../../src/message.ts';
import { buildReplacement } from '../../src/prompt/replacement.ts';
import { toolTurn } from '../support/scripted-model.ts';
import { chatView, claudeView, readChat } from '../support/views.ts';

const noneRecorded = recognizeBy(new Set());
const options = { isUserInput: hasUserContent, recognize: noneRecorded };
const text = (content: string): Part => ({ type: 'text', text: content });
const user = (content: string): ChatMessage => ({ role: 'user', content });
const image: MediaPart = {
  type: 'media',
  kind: 'image',
  value: { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
};
const answer: ChatMessage = { role: 'assistant', content: 'Fine.' };
const later: ChatMessage = { role: 'system', content: 'A later rule.' };

/** As an adapter writes it into a conversation. */
const written = (summary: string, lastUserMessage?: readonly Part[]): ChatMessage =>
  openaiChat().writeMessage(buildReplacement({ summary, lastUserMessage }))[0]!;

describe('divide', () => {
  it('replaces all but system items, and keeps the newest input of the user', () => {
    const view = chatView([later, user('First.'), answer, later, user('Second.'), ...toolTurn('c1', 'ok')]);
    const { replaced, laterSystem, lastUserMessage } = divide(view, options);
    expect(replaced.map(({ item }) => item.role)).toEqual(['user', 'assistant', 'user', 'assistant', 'tool']);
    expect(laterSystem.map(({ item }) => item)).toEqual([later]);
    expect(lastUserMessage).toEqual([text('Second.')]);
  });

  it('B048: keeps the question although many tool turns came after it', () => {
    const turns = Array.from({ length: 50 }, (_, index) => toolTurn(`c${index}`, 'ok')).flat();
    expect(divide(chatView([user('First.'), answer, user('The question.'), ...turns]), options).lastUserMessage).toEqual([
      text('The question.'),
    ]);
  });

  it('B050: what the host says in the name of the user does not count', () => {
    const isUserInput = (message: { parts: readonly Part[] }) => !JSON.stringify(message.parts).includes('heartbeat');
    const view = chatView([user('The question.'), answer, user('heartbeat'), answer, user('heartbeat')]);
    expect(divide(view, { ...options, isUserInput }).lastUserMessage).toEqual([text('The question.')]);
    expect(divide(view, { ...options, isUserInput: () => false }).lastUserMessage).toBeUndefined();
  });

  it('counts text beside tool results as input, and tool results alone not', () => {
    const result = { type: 'tool_result', tool_use_id: 'c1', content: 'ok' };
    const call: AnthropicMessage = {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'c1', name: 'read', input: {} } as never],
    };
    const items = (content: unknown[]): AnthropicMessage[] => [
      { role: 'user', content: 'Go.' },
      call,
      { role: 'user', content } as AnthropicMessage,
    ];
    expect(divide(claudeView(items([result])), options).lastUserMessage).toEqual([text('Go.')]);
    expect(divide(claudeView(items([result, { type: 'text', text: 'Faster.' }])), options).lastUserMessage).toEqual([
      text('Faster.'),
    ]);
  });

  it('keeps the parts of the input in their order, the very same', () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
    const content = [{ type: 'text', text: 'Before.' }, image, { type: 'text', text: ' ' }, { type: 'text', text: 'After.' }];
    const parts = divide(chatView([{ role: 'user', content }, answer]), options).lastUserMessage;
    expect(parts?.map(({ type }) => type)).toEqual(['text', 'media', 'text']);
    expect(parts?.[1]).toMatchObject({ value: image });
  });

  it('unwraps an earlier replacement that is the newest input', () => {
    const view = chatView([written('Earlier.', [text('The question.')]), ...toolTurn('c1', 'ok')]);
    expect(divide(view, options).lastUserMessage).toEqual([text('The question.')]);
    const asked = chatView([written('Earlier.', [text('The question.')]), answer, user('Another.'), answer]);
    expect(divide(asked, options).lastUserMessage).toEqual([text('Another.')]);
  });

  it('never takes a manual replacement for input', () => {
    const tagged = chatView([written('Earlier.'), answer]);
    expect(divide(tagged, options).lastUserMessage).toBeUndefined();
    const plain = user('A summary without tags.');
    const recognize = recognizeBy(new Set([readChat(plain).fingerprint]));
    expect(divide(chatView([plain, answer]), { ...options, recognize }).lastUserMessage).toBeUndefined();
    expect(divide(chatView([plain, answer]), options).lastUserMessage).toEqual([text('A summary without tags.')]);
  });

  it.each<[string, ChatMessage[], string]>([
    ['nothing at all', [], 'got none beside the system messages'],
    ['system messages alone', [later, later], 'got none beside the system messages'],
    ['one message of the user', [later, user('Hello.')], 'got one message beside the system messages'],
    ['a replacement alone', [written('Earlier.', [text('The question.')])], 'got one message'],
  ])('has nothing to compact in %s', (_name, messages, reason) => {
    const dividing = () => divide(chatView(messages), options);
    expect(dividing).toThrow(CompactionError);
    expect(dividing).toThrow(reason);
  });

  it('has something to compact in one answer of the assistant', () => {
    expect(divide(chatView([answer]), options).replaced).toHaveLength(1);
  });
});

describe('countReminders', () => {
  it('counts what the host says at the end, and not a result that lost its call', () => {
    const isUserInput = (message: Message) => JSON.stringify(message.parts).includes('?');
    const record = openaiChat().writeMessage({
      role: 'user',
      parts: writeOrphanRecord({ type: 'toolResult', callId: 'c1', content: [{ type: 'text', text: 'A result.' }] }),
    })[0]!;
    expect(countReminders(chatView([user('So?'), answer, user('Mind the time.'), later]).body, isUserInput)).toBe(2);
    expect(countReminders(chatView([user('So?'), answer, record, later]).body, isUserInput)).toBe(1);
  });
});

describe('recognizeBy', () => {
  it.each<[string, Part[]]>([
    ['one text', [text('What is\nthis?')]],
    ['one text and images', [text('What is this?'), image, { ...image }]],
    ['images alone', [image]],
  ])('finds what the user said in a shape that has one text, with media behind it: %s', (_name, lastUserMessage) => {
    const { parts } = buildReplacement({ summary: 'S', lastUserMessage });
    const joined = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    const message: Message = { role: 'user', parts: [text(joined), ...parts.filter(({ type }) => type !== 'text')] };
    const reading = { ...readChat(user('')), messages: [message], fingerprint: 'recorded' };
    expect(recognizeBy(new Set(['recorded']))(reading)).toEqual({ summary: 'S', lastUserMessage });
    expect(recognizeBy(new Set())(reading)).toBeUndefined();
  });

  it('knows what was built, by its text', () => {
    expect(noneRecorded(readChat(written('A summary.', [text('Go.')])))).toEqual({
      summary: 'A summary.',
      lastUserMessage: [text('Go.')],
    });
    const [claude] = anthropicMessages().writeMessage(
      buildReplacement({ summary: 'A summary.', lastUserMessage: [text('Go.')] }),
    );
    const [reading] = claudeView([claude!]).body;
    expect(reading && noneRecorded(reading)).toEqual({ summary: 'A summary.', lastUserMessage: [text('Go.')] });
  });

  it('knows what was recorded, by its content', () => {
    const plain = readChat(user('Just a summary.'));
    const recognize: RecognizeReplacement = recognizeBy(new Set([plain.fingerprint]));
    expect(recognize(plain)).toEqual({ summary: 'Just a summary.' });
    expect(recognize(readChat(structuredClone(user('Just a summary.'))))).toEqual({ summary: 'Just a summary.' });
    expect(recognize(readChat(user('Just a summary!')))).toBeUndefined();
  });
});
