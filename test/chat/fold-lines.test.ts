import fc from 'fast-check';
import { expect, it } from 'vitest';
import { foldLines } from '../../examples/chat/fold-lines.ts';

it('keeps the line that is still written', () => {
  expect(foldLines('one\ntwo', 10)).toEqual({ lines: ['one'], rest: 'two' });
  expect(foldLines('one\n', 10)).toEqual({ lines: ['one'], rest: '' });
});

it('cuts between words, and within one that is too long', () => {
  expect(foldLines('one two three', 9)).toEqual({ lines: ['one two'], rest: 'three' });
  expect(foldLines('onetwothree', 4)).toEqual({ lines: ['onet', 'woth'], rest: 'ree' });
});

it('loses nothing but white space, and no line is too long', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 20 }), (text, columns) => {
      const { lines, rest } = foldLines(text, columns);
      const all = [...lines, rest];
      expect(all.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
      expect(all.every((line) => line.length <= columns)).toBe(true);
    }),
  );
});
