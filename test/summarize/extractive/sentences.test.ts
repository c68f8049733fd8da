import { describe, expect, it } from 'vitest';
import { sentencesOf } from '../../../src/summarize/extractive/sentences.ts';

describe('sentencesOf', () => {
  it('splits at the end of sentences, not inside paths, numbers and abbreviations', () => {
    expect(sentencesOf('See src/a.ts. The value is 1.5, e.g. Five. Is it? Yes!')).toEqual([
      'See src/a.ts.',
      'The value is 1.5, e.g. Five.',
      'Is it?',
      'Yes!',
    ]);
  });

  it('splits Chinese and Japanese without blanks', () => {
    expect(sentencesOf('先读文件。然后运行测试！好吗？')).toEqual(['先读文件。', '然后运行测试！', '好吗？']);
  });

  it('takes list items, headings and quotations without their marks', () => {
    expect(sentencesOf('## Plan\n- [ ] first\n1. second\n> third\n---\n| a |')).toEqual([
      'Plan',
      'first',
      'second',
      'third',
      '| a |',
    ]);
  });

  it('leaves out closed fences only', () => {
    expect(sentencesOf('a\n```ts\nb\n```\nc\n```\nd')).toEqual(['a', 'c', '```', 'd'].filter((line) => line !== '```'));
  });

  it('loses no word of a long line', () => {
    const words = Array.from({ length: 2_000 }, (_, index) => `word${index}`);
    expect(sentencesOf(words.join(' ')).join(' ')).toBe(words.join(' '));
  });
});
