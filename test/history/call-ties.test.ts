import { describe, expect, it } from 'vitest';
import { tieCalls } from '../../src/history/call-ties.ts';
import { calls, item, itemsOf, results, says, user } from '../support/sized-items.ts';

const none = { results: [], calls: [], isOpen: false, isOrphan: false };

describe('tieCalls', () => {
  it('ties calls and results by their ids, wherever they stand', () => {
    const ties = tieCalls(itemsOf(calls('a', 'b'), results('b'), user('1'), results('a'), says('x')));
    expect(ties).toEqual([{ ...none, results: [1, 3] }, { ...none, calls: [0] }, none, { ...none, calls: [0] }, none]);
  });

  it('a result answers the nearest call of its id that waits, and no call twice', () => {
    const ties = tieCalls(itemsOf(calls('a'), calls('a'), results('a'), results('a'), results('a')));
    expect(ties.map((tie) => tie.results)).toEqual([[3], [2], [], [], []]);
    expect(ties.map((tie) => tie.isOrphan)).toEqual([false, false, false, false, true]);
  });

  it('a call without a result is open, and so is one that cannot be told from those beside it', () => {
    const isOpen = (...messages: Parameters<typeof itemsOf>): boolean[] =>
      tieCalls(itemsOf(...messages)).map((tie) => tie.isOpen);
    expect(isOpen(calls('a', 'b'), results('a'), calls('c'), results('c'))).toEqual([true, false, false, false]);
    expect(isOpen(calls('a', 'a'), results('a', 'a'))).toEqual([true, false]);
    expect(isOpen(calls(''), results(''))).toEqual([true, false]);
  });

  it('a result before its call is none of it', () => {
    expect(tieCalls(itemsOf(results('a'), calls('a')))).toEqual([
      { ...none, isOrphan: true },
      { ...none, isOpen: true },
    ]);
  });

  it('an item is not tied to itself', () => {
    expect(tieCalls([item([calls('a'), results('a')])])).toEqual([none]);
  });
});
