import { expect, it } from 'vitest';
import { suggestCompaction } from '../../src/budget/suggest-compaction.ts';

it.each([
  [69_999, 'none'],
  [70_000, 'suggest'],
  [79_999, 'suggest'],
  [80_000, 'warn'],
  [94_999, 'warn'],
  [95_000, 'critical'],
  [200_000, 'critical'],
])('K30: %i tokens in a window of 100,000 suggest: %s', (inputTokens, expected) => {
  expect(suggestCompaction({ inputTokens, contextWindow: 100_000 })).toBe(expected);
});

it.each([
  [undefined, 100_000],
  [99_000, undefined],
  [99_000, 0],
  [Number.NaN, 100_000],
  [99_000, Number.POSITIVE_INFINITY],
  [-1, 100_000],
])('K30: nothing is suggested where a number is not known: %s of %s', (inputTokens, contextWindow) => {
  expect(suggestCompaction({ inputTokens, contextWindow })).toBe('none');
});
