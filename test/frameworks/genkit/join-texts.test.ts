import { describe, expect, it } from 'vitest';
import { type GenkitMessage, type GenkitRequest, genkitModel } from '../../../src/adapters/genkit.ts';
import { joinReplacementTexts } from '../../../src/frameworks/genkit/join-texts.ts';
import type { Part } from '../../../src/message.ts';
import { buildReplacement } from '../../../src/prompt/replacement.ts';

const user = (...content: object[]): GenkitMessage => ({ role: 'user', content });
const parent: GenkitRequest = { messages: [user({ text: 'Hello' })] };
const replacement = (...lastUserMessage: Part[]): GenkitMessage[] =>
  genkitModel().writeMessage(buildReplacement({ summary: 'All is well.', lastUserMessage }));
const join = (messages: readonly GenkitMessage[]) => joinReplacementTexts({ messages }, parent).messages;
const text = (words: string): Part => ({ type: 'text', text: words });
const opening = expect.stringMatching(/^<compacted_context>[\s\S]*\n\n$/);

describe('joinReplacementTexts', () => {
  it('makes one text of a replacement with one text of the user', () => {
    const [message] = replacement(text('Go on.'));
    const texts = message?.content.map((part) => ('text' in part ? part.text : ''));
    expect(texts).toHaveLength(3);
    expect(join([...replacement(text('Go on.'))])).toEqual([user({ text: texts?.join('') })]);
  });

  it('keeps several texts of the user apart', () => {
    const [message] = join(replacement(text('a'), text('b'), text('c')));
    expect(message?.content).toEqual([
      { text: expect.stringMatching(/^<compacted_context>[\s\S]*\n\na$/) },
      { text: 'b' },
      { text: 'c\n</last_user_message>' },
    ]);
  });

  it('leaves alone what is more than a text', () => {
    const image = { media: { url: 'https://example.test/a.png' } };
    const marked = { text: 'marked', metadata: { purpose: 'context' } };
    const [message] = join(replacement({ type: 'media', kind: 'image', value: image }, { type: 'native', value: marked }));
    expect(message?.content).toEqual([{ text: opening }, image, marked, { text: '\n</last_user_message>' }]);
  });

  it('leaves every other message as it is, and what the request held itself', () => {
    const others = [user({ text: 'a' }, { text: 'b' }), { role: 'model', content: [{ text: 'c' }, { text: 'd' }] }];
    expect(join(others).every((message, index) => message === others[index])).toBe(true);
    const own = { messages: replacement(text('Go on.')) };
    expect(joinReplacementTexts(own, own)).toBe(own);
    expect(joinReplacementTexts({ messages: [...own.messages, ...others] }, own).messages[0]).toBe(own.messages[0]);
  });

  it('changes nothing of what the library remembers', () => {
    const messages = replacement(text('Go on.'));
    const before = JSON.stringify(messages);
    join(messages);
    expect(JSON.stringify(messages)).toBe(before);
  });
});
