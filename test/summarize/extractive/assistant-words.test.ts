import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/message.ts';
import { readAssistantWords } from '../../../src/summarize/extractive/assistant-words.ts';
import { payAttention } from '../../../src/summarize/extractive/attention.ts';
import { readConversation } from '../../../src/summarize/extractive/conversation.ts';
import { assistant, user } from './short-messages.ts';

const read = (messages: Message[], carried: string[] = []) => {
  const conversation = readConversation(messages);
  return readAssistantWords(conversation, carried, payAttention(conversation, carried));
};
const found = (text: string) => read([assistant(text)]).found.map((entry) => entry.text);
const next = (...messages: Message[]) => read(messages).next?.text;

describe('what was found', () => {
  it.each([
    'Noted: the default window is 200,000, in src/budget.ts.',
    'The root cause is a missing await.',
    '`parseLine` returns null for an empty line.',
    'The timeout defaults to 30 seconds.',
    '默认值是 4096,定义在 src/config.ts。',
    'キャッシュの上限は 512 件です。',
  ])('keeps %s', (sentence) => {
    expect(found(`Let me look at this. ${sentence}`)).toEqual([sentence]);
  });

  it.each([
    'Great, thank you.',
    'Let me read src/a.ts now.',
    "I'll check line 40 of src/a.ts next.",
    'Here is the list:',
    'Shall I go on?',
  ])('leaves out %s', (sentence) => {
    expect(found(sentence)).toEqual([]);
  });

  it('keeps a sentence that refers back together with what it refers to', () => {
    expect(found('The limit lives in src/a.ts. It is 42.')).toEqual(['The limit lives in src/a.ts. It is 42.']);
  });

  it('ranks what names a value and a place above what names neither', () => {
    const ranks = read([assistant('The loader is slow because it sleeps. The loader sleeps for 250 ms in src/loader.ts.')]).found;
    expect(ranks[1]?.rank).toBeGreaterThan(ranks[0]?.rank ?? 0);
  });

  it('ranks a repetition in other words lower', () => {
    const once =
      read([assistant('The `walk` function of src/tree.ts returns 7 nodes because it skips leaves.')]).found[0]?.rank ?? 0;
    const twice = read([
      assistant(
        'The `walk` function of src/tree.ts returns 7 nodes because it skips leaves. In src/tree.ts the function `walk` skips leaves.',
      ),
    ]).found;
    expect(twice[0]?.rank).toBeCloseTo(once, 1);
    expect(twice[1]?.rank).toBeLessThan(once - 2);
  });

  it('ranks what was carried over above the same kind of news', () => {
    const { carried, found: fresh } = read(
      [assistant('The retry limit is 5 in src/http.ts.')],
      ['The cache limit is 9 in src/cache.ts.'],
    );
    expect(carried[0]?.rank).toBeGreaterThan(fresh[0]?.rank ?? 0);
  });

  it('says nothing twice', () => {
    expect(read([assistant('The limit is 42.'), assistant('the limit is 42')], ['The limit is 42.']).found).toEqual([]);
  });
});

describe('what was done', () => {
  it('is told apart from what was found', () => {
    const words = read([assistant('Fixed the off-by-one in src/a.ts. The limit is 42 in src/b.ts.')]);
    expect(words.did.map((entry) => entry.text)).toEqual(['Fixed the off-by-one in src/a.ts.']);
    expect(words.found.map((entry) => entry.text)).toEqual(['The limit is 42 in src/b.ts.']);
  });
});

describe('the next action', () => {
  it.each([
    ['The bug is here. Next, I will fix walk. It is small.', 'Next: Next, I will fix walk.'],
    ['Let me run the tests.', 'Next: Let me run the tests.'],
    ['All done, and then I will rest.', 'Next: All done, and then I will rest.'],
    ['다음 단계는 테스트 실행입니다.', 'Next: 다음 단계는 테스트 실행입니다.'],
    ['接下来我将运行测试。', 'Next: 接下来我将运行测试。'],
    ['Als Nächstes prüfe ich die Tests.', 'Next: Als Nächstes prüfe ich die Tests.'],
    ['Everything passes.', 'Last said: Everything passes.'],
  ])('of %j is %j', (text, expected) => {
    expect(next(user('Go.'), assistant('I will do something else first.'), assistant(text))).toBe(expected);
  });

  it('is looked for in the last text that holds words', () => {
    expect(next(assistant('Next I will build.'), assistant('```\ncode\n```'), assistant('---'))).toBe('Next: Next I will build.');
  });

  it('is unknown before the assistant has said anything', () => {
    expect(next(user('Go.'))).toBeUndefined();
  });
});
