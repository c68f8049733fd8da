import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countBytesByThree, utf8Length } from '../../src/budget/token-counter.ts';

const anyString = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
  maxLength: 300,
});
const mostlySurrogates = fc.string({
  unit: fc.oneof(fc.integer({ min: 0xd7f0, max: 0xe010 }), fc.constant(0x61)).map((unit) => String.fromCharCode(unit)),
  maxLength: 40,
});

describe('countBytesByThree', () => {
  it('counts a third of the UTF-8 bytes, rounded up', () => {
    expect(countBytesByThree('')).toBe(0);
    expect(countBytesByThree('é')).toBe(1);
    expect(countBytesByThree('abcd')).toBe(2);
    expect(countBytesByThree('😀')).toBe(2);
    expect(countBytesByThree('漢字')).toBe(2);
  });
});

describe('utf8Length', () => {
  it('is the length that encoding gives, for any string', () => {
    fc.assert(
      fc.property(fc.oneof(anyString, mostlySurrogates), (text) => utf8Length(text) === Buffer.byteLength(text)),
      {
        numRuns: 2000,
      },
    );
  });

  it('counts a lone surrogate as the replacement character', () => {
    for (const text of ['\ud800', '\udc00', 'a\ud800', '\udc00\ud800', '\ud800\ud800\udc00', '😀\ud83d']) {
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
    }
  });

  it('measures ten million characters', () => {
    expect(utf8Length('é'.repeat(10_000_000))).toBe(20_000_000);
  });
});
