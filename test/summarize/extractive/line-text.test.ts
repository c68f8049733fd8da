import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clip, linesOf, toOneLine } from '../../../src/summarize/extractive/line-text.ts';

describe('clip', () => {
  it('cuts between code points, and twice is the same as once', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 1, max: 30 }), (text, length) => {
        const clipped = clip(text, length);
        expect(clipped.length).toBeLessThanOrEqual(length);
        expect(clipped.isWellFormed()).toBe(true);
        expect(clip(clipped, length)).toBe(clipped);
      }),
    );
  });
});

describe('toOneLine', () => {
  it('leaves no line break, colour, control character or half of a pair', () => {
    expect(toOneLine('\u001b[1;31ma\u001b[0m\r\n\tb\u0000\u2028c \u001b]0;title\u0007d\ud83d')).toBe('a b c d\ufffd');
  });
});

describe('linesOf', () => {
  it('knows every line break and gives no empty line', () => {
    expect([...linesOf('\na\r\nb\rc\u2028d\u2029\n\n')]).toEqual(['a', 'b', 'c', 'd']);
  });
});
