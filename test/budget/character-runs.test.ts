import fc from 'fast-check';
import {
  CL100K_TOKEN_SPLIT_REGEX,
  O200K_TOKEN_SPLIT_REGEX,
  R50K_TOKEN_SPLIT_REGEX,
} from 'gpt-tokenizer/encodingParams/constants';
import { describe, expect, it } from 'vitest';
import { endOfChunk } from '../../src/budget/character-runs.ts';

const splits = { o200k: O200K_TOKEN_SPLIT_REGEX, cl100k: CL100K_TOKEN_SPLIT_REGEX, r50k: R50K_TOKEN_SPLIT_REGEX };

function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = endOfChunk(text, start);
    expect(end).toBeGreaterThan(start);
    chunks.push(text.slice(start, end));
    start = end;
  }
  return chunks;
}

function longestPiece(text: string): number {
  const lengths = chunksOf(text).flatMap((chunk) =>
    Object.values(splits).flatMap((split) => [...chunk.matchAll(split)].map((match) => match[0].length)),
  );
  return Math.max(0, ...lengths);
}

// Few different characters, repeated: what long pieces are made of.
const unit = fc.oneof(
  fc.integer({ min: 0, max: 0xffff }),
  fc.integer({ min: 0, max: 0x7f }),
  fc.integer({ min: 0xd800, max: 0xdfff }),
  fc.constantFrom(0, 9, 10, 13, 32, 39, 47, 0x85, 0xfeff, 0x300, 0x200d, 0xfe0f, 0x2028),
);
const monotonous = fc
  .array(
    unit.map((code) => String.fromCharCode(code)),
    { minLength: 1, maxLength: 5 },
  )
  .chain((alphabet) =>
    fc.tuple(fc.array(fc.constantFrom(...alphabet), { minLength: 1, maxLength: 60 }), fc.integer({ min: 20, max: 60 })),
  )
  .map(([characters, times]) => characters.join('').repeat(times));

describe('endOfChunk', () => {
  it('B135: leaves no piece longer than 400 characters for the splitting rules of any encoding', () => {
    fc.assert(
      fc.property(monotonous, (text) => longestPiece(text) <= 400),
      { numRuns: 1500 },
    );
  });

  it('bounds pieces that mix kinds', () => {
    const patterns = [
      'aé',
      'aA',
      'e\u0301',
      "a's",
      '!\n/',
      '\n/',
      '/\n\n',
      '\n ',
      '\r\n',
      '😀a',
      '😀\ufe0f\u200d',
      '\ud800a',
      'a漢',
      '\u0301!',
      '٣3',
      '𝟙1',
      '𝒜a',
    ];
    for (const pattern of patterns) {
      expect(longestPiece(pattern.repeat(5000)), JSON.stringify(pattern)).toBeLessThanOrEqual(400);
    }
  });

  it('keeps the text whole and in order', () => {
    fc.assert(fc.property(monotonous, (text) => chunksOf(text).join('') === text));
  });

  it('never cuts a surrogate pair', () => {
    const text = `a${'😀'.repeat(1000)}`;
    const chunks = chunksOf(text);
    expect(chunks.length).toBeGreaterThan(10);
    for (const chunk of chunks) expect(chunk.isWellFormed()).toBe(true);
  });

  it('does not cut ordinary text, indentation and rulers included', () => {
    const lines = [
      '# Title',
      '-'.repeat(120),
      `${' '.repeat(110)}|`,
      `${' '.repeat(100)}return value;`,
      'https://example.com/a/b/c',
      '漢字。'.repeat(300),
    ];
    const text = lines.join('\n').repeat(50);
    expect(endOfChunk(text, 0)).toBe(text.length);
  });

  it('cuts a run where the next token would begin', () => {
    expect(endOfChunk('='.repeat(129), 0)).toBe(128);
    expect(endOfChunk('='.repeat(128), 0)).toBe(128);
    expect(endOfChunk(`x ${'7'.repeat(500)}`, 0)).toBe(2 + 126);
    expect(endOfChunk('='.repeat(500), 300)).toBe(428);
  });
});
