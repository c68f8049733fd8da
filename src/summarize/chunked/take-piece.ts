import type { Omitted } from '../../events.ts';
import { sumTokens } from '../../history/newest-groups.ts';
import { type CutOptions, cutItem } from '../../history/preview-items.ts';
import { type SizedItem, splitGroups, splitTurn } from '../../history/protocol-groups.ts';
import { shareOf } from '../fair-share.ts';

/** What can be asked about in one request: a word of the user, or a message of the assistant with the results of its calls. */
export interface Step<Item> {
  items: readonly SizedItem<Item>[];
  tokens: number;
  /** It is the first of its protocol group. */
  opensGroup: boolean;
}

/** The next part of a conversation. */
export interface Piece<Item> {
  items: readonly Item[];
  /** How many steps it stands for. */
  steps: number;
  omitted?: Omitted | undefined;
}

export function splitSteps<Item>(items: readonly SizedItem<Item>[]): Step<Item>[] {
  return splitGroups(items).flatMap((group) =>
    splitTurn(group).map((step, index) => ({ items: step, tokens: sumTokens(step), opensGroup: index === 0 })),
  );
}

/**
 * The steps from `start` on that have room: all that are left, else whole protocol groups, else whole steps. A step that has no
 * room alone is cut, or left out where even that does not help. Always takes one step at least.
 */
export function takePiece<Item>(
  steps: readonly Step<Item>[],
  start: number,
  room: number,
  options: CutOptions<Item>,
): Piece<Item> {
  let end = start;
  for (let left = room; end < steps.length; end++) {
    left -= steps[end]?.tokens ?? 0;
    if (left < 0) break;
  }
  if (end === start) return cutStep(steps[start], room, options);
  if (end < steps.length) end = lastGroupStart(steps, start, end) ?? end;
  const taken = steps.slice(start, end);
  return { items: taken.flatMap(({ items }) => items.flatMap((sized) => sized.items)), steps: taken.length };
}

/** Where the last protocol group begins that is behind the first step, and not behind the end. */
function lastGroupStart(steps: readonly Step<unknown>[], start: number, end: number): number | undefined {
  for (let index = end; index > start; index--) if (steps[index]?.opensGroup) return index;
  return undefined;
}

function cutStep<Item>(step: Step<Item> | undefined, room: number, options: CutOptions<Item>): Piece<Item> {
  const { items, tokens } = step ?? { items: [], tokens: 0 };
  const share = shareOf(
    items.map((sized) => sized.tokens),
    room,
  );
  const cut = items.map((sized) => cutItem(sized, Math.floor(share / Math.max(1, sized.messages.length)), options));
  const left = sumTokens(cut);
  if (left > room) return { items: [], steps: 1, omitted: { items: items.length, tokens } };
  return { items: cut.flatMap((sized) => sized.items), steps: 1, omitted: { items: 0, tokens: tokens - left } };
}
