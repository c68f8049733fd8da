import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clip, endsOf, linesOf, piecesOf, toOneLine } from '../../../src/summarize/extractive/line-text.ts';

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

describe('piecesOf', () => {
  it('loses nothing, and cuts between code points', () => {
    const text = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('😀'.repeat(1_500), 'x'.repeat(1_999))), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(text, (texts) => {
        const whole = texts.join('').toWellFormed();
        const pieces = [...piecesOf(whole)];
        expect(pieces.join('')).toBe(whole);
        for (const piece of pieces) {
          expect(piece.length).toBeLessThanOrEqual(2_000);
          expect(piece.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  it('cuts after a sentence, else at a blank', () => {
    const sentence = `${'word '.repeat(250)}end. `;
    expect([...piecesOf(sentence.repeat(2))].map((piece) => piece.trim())).toEqual([sentence.trim(), sentence.trim()]);
    const [first] = piecesOf('word '.repeat(1_000));
    expect(first).toMatch(/word $/);
  });
});

describe('endsOf', () => {
  it('keeps the whole of a text, or whole lines of its beginning and its end', () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}`);
    const known = new Set(lines);
    expect(endsOf('x'.repeat(200_000))).toBe('x'.repeat(200_000));
    const ends = endsOf(lines.join('\n')).split('\n');
    expect(ends.length).toBeGreaterThan(10_000);
    expect(ends.length).toBeLessThan(lines.length);
    expect(ends[0]).toBe(lines[0]);
    expect(ends.at(-1)).toBe(lines.at(-1));
    expect(ends.every((line) => known.has(line))).toBe(true);
  });

  it('cuts a single line between code points', () => {
    const ends = endsOf(`a${'😀'.repeat(200_000)}`);
    expect(ends.isWellFormed()).toBe(true);
    expect(ends.length).toBeLessThanOrEqual(200_001);
  });
});
