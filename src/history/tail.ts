import { tieCalls } from './call-ties.ts';
import { sumTokens } from './newest-groups.ts';
import { type CutOptions, previewItems } from './preview-items.ts';
import { opensGroup, type SizedItem } from './protocol-groups.ts';
import { completePrefix } from './tail/complete-prefix.ts';
import { hasUserContent, type IsUserInput } from './turns.ts';

/** How large the continuity tail may be. */
export interface TailSize {
  /** Part of the context window, from 0 to 1. Default 0.16. */
  ratio?: number | undefined;
  /** In tokens, at least. Default 1024. */
  min?: number | undefined;
  /** In tokens, at most, and where the window is not known. Default 20,000. */
  max?: number | undefined;
}

/** Which items stay as they are behind a summary: those from `start` to before `end`. */
export interface TailSelection {
  start: number;
  /** What comes from here on is cut off, for a call in it has no result: usually nothing. */
  end: number;
  /** The newest group alone is larger than the target: see `previewGroup`. */
  oversized: boolean;
}

/**
 * Wanted size of the continuity tail, in tokens, for a context window; 0 where that is not known. V5
 *
 * @example
 * tailTarget(32_768); // 5242
 */
export function tailTarget(window: number, { ratio = 0.16, min = 1024, max = 20_000 }: TailSize = {}): number {
  if (window === 0) return max;
  return Math.min(max, Math.max(min, Math.floor(window * Math.min(1, Math.max(0, ratio)))));
}

/**
 * The newest protocol groups that fit, whole and in a row: they begin with input of the user, and no call is parted from its result.
 * Undefined where the user said nothing that could begin them. V21
 *
 * @param items what follows the newest replacement, which belongs to no tail.
 * @param isUserInput false for what a host says in the name of the user: no tail begins with it.
 * @example
 * const tail = selectTail(items, tailTarget(200_000), hasUserContent);
 * const kept = tail && items.slice(tail.start, tail.end);
 */
export function selectTail(
  items: readonly SizedItem<unknown>[],
  target: number,
  isUserInput: IsUserInput,
): TailSelection | undefined {
  const [newest, ...older] = findGroups(items, isUserInput).reverse();
  if (newest === undefined) return undefined;
  const end = newest + completePrefix(items.slice(newest));
  if (end === newest) return undefined;
  let left = target - sumTokens(items.slice(newest, end));
  if (left < 0) return { start: newest, end, oversized: true };
  let start = newest;
  for (const place of older) {
    const group = items.slice(place, start);
    left -= sumTokens(group);
    if (left < 0 || completePrefix(group) < group.length) break;
    start = place;
  }
  return { start, end, oversized: false };
}

/** Where groups begin, oldest first. What comes before the first input of the user is in none. */
function findGroups(items: readonly SizedItem<unknown>[], isUserInput: IsUserInput): number[] {
  const starts: number[] = [];
  let answered = 0; // calls so far have their results before this
  for (const [index, { results }] of tieCalls(items).entries()) {
    const item = items[index];
    if (item && answered <= index && opensGroup(item, isUserInput)) starts.push(index);
    for (const result of results) answered = Math.max(answered, result + 1);
  }
  return starts;
}

/**
 * A group that is too large, cut until it has at most so many tokens; ids stay, so that calls and results still belong together. What
 * fits is the very same item: the user's words were cut where the first is another. Where the messages are too many for a share each,
 * the newest steps stay. Undefined where the user would have no word in it, or where ids alone are too long. V22, V24
 */
export function previewGroup<Item>(
  group: readonly SizedItem<Item>[],
  target: number,
  options: CutOptions<Item>,
): readonly SizedItem<Item>[] | undefined {
  const previews = previewItems(group, target, options, group);
  const begins = previews[0]?.messages.some(hasUserContent);
  return begins && sumTokens(previews) <= target ? previews : undefined;
}
