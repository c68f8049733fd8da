import type { Message } from '../../message.ts';
import { tieCalls } from '../call-ties.ts';
import { hasUserContent } from '../turns.ts';

/** The items of a group. */
type Group = readonly { messages: readonly Message[] }[];

/**
 * How many items at the start of a group are complete: each call in them has its result in them. 0 where the user does not begin the
 * group. With a call that has none goes the whole turn of the model that it is in, and all that comes after it. V19, V20
 *
 * Unlike V19 a result may come later than right behind its call: some providers allow it, and for others it is brought back to its place.
 */
export function completePrefix(group: Group): number {
  if (!group[0]?.messages.some(hasUserContent)) return 0;
  const ties = tieCalls(group);
  const open = ties.findIndex(({ isOpen }) => isOpen);
  if (open === -1) return group.length;
  let end = findTurn(group, open);
  for (let index = end - 1; index >= 0; index--) {
    // Its result came after the cut: it has none any more.
    if (ties[index]?.results.some((result) => result >= end)) end = index = findTurn(group, index);
  }
  return end;
}

/** Where the turn of the model begins that the item belongs to: it may be several items. */
function findTurn(group: Group, index: number): number {
  let start = index;
  while (start > 0 && group[start - 1]?.messages.every(({ role }) => role === 'assistant')) start--;
  return start;
}
