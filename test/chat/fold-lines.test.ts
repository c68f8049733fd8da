import fc from 'fast-check';
import { expect, it } from 'vitest';
import { foldLines } from '../../examples/chat/fold-lines.ts';

const graphemes = new Intl.Segmenter();

it('keeps the line that is still written', () => {
  expect(foldLines('one\ntwo', 10)).toEqual({ lines: ['one'], rest: 'two' });
  expect(foldLines('one\n', 10)).toEqual({ lines: ['one'], rest: '' });
});

it('cuts between words, and within one that is too long', () => {
  expect(foldLines('one two three', 9)).toEqual({ lines: ['one two'], rest: 'three' });
  expect(foldLines('onetwothree', 4)).toEqual({ lines: ['onet', 'woth'], rest: 'ree' });
});

it('counts columns, not code units, and cuts no character', () => {
  expect(foldLines('你好世界', 5)).toEqual({ lines: ['你好'], rest: '世界' });
  expect(foldLines('🎉🎉🎉', 3)).toEqual({ lines: ['🎉', '🎉'], rest: '🎉' });
  expect(foldLines('e\u0301e\u0301e\u0301', 2)).toEqual({ lines: ['e\u0301e\u0301'], rest: 'e\u0301' });
  expect(foldLines('👨‍👩‍👧👨‍👩‍👧', 4)).toEqual({ lines: ['👨‍👩‍👧'], rest: '👨‍👩‍👧' });
});

it('loses nothing but white space, and no line is too long', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, columns) => {
      const { lines, rest } = foldLines(text, columns);
      const all = [...lines, rest];
      expect(all.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
      // The width of a character is that of one column at least, unless it only changes the one before it.
      expect(all.every((line) => [...graphemes.segment(line)].length <= Math.max(1, columns))).toBe(true);
    }),
  );
});
