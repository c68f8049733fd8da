import { type SizedItem, splitGroups, splitTurn } from './protocol-groups.ts';

/** Size of items together, in tokens. */
export function sumTokens(items: readonly SizedItem<unknown>[]): number {
  return items.reduce((total, { tokens }) => total + tokens, 0);
}

/** The newest groups in a row that fit, without a gap, oldest first. V29 */
export function takeNewest<Item>(groups: readonly SizedItem<Item>[][], room: number): readonly SizedItem<Item>[][] {
  let left = room;
  let start = groups.length;
  while (start > 0) {
    const tokens = sumTokens(groups[start - 1] ?? []);
    if (tokens > left) break;
    left -= tokens;
    start--;
  }
  return groups.slice(start);
}

/**
 * The items of the newest protocol groups that fit. Of the first group that does not, what the user says in it, and its newest steps: a
 * long turn of work is not lost as a whole for a message that came after it. Undefined where not even the newest group fits.
 */
export function takeNewestItems<Item>(items: readonly SizedItem<Item>[], room: number): SizedItem<Item>[] | undefined {
  const groups = splitGroups(items);
  const whole = takeNewest(groups, room);
  if (whole.length === 0) return undefined;
  const kept = whole.flat();
  const [opening = [], ...steps] = splitTurn(groups[groups.length - whole.length - 1] ?? []);
  const newest = takeNewest(steps, room - sumTokens(kept) - sumTokens(opening)).flat();
  return newest.length === 0 ? kept : [...opening, ...newest, ...kept];
}
