import type { Message } from '../../message.ts';
import { type CallTies, tieCalls } from '../call-ties.ts';

/**
 * The items that are kept or left together, by index: calls with all of their results, each answered and each result with its call. Items
 * of broken pairs are in none, and neither are those without calls.
 */
export function findCallUnits(items: readonly { messages: readonly Message[] }[]): number[][] {
  const all = tieCalls(items);
  const seen = new Set<number>();
  const units: number[][] = [];
  for (const [index, { messages }] of items.entries()) {
    if (seen.has(index) || !messages.some(holdsCalls)) continue;
    const unit = findTied(index, all, seen);
    if (!unit.some((member) => all[member]?.isOpen || all[member]?.isOrphan)) units.push(unit);
  }
  return units;
}

/** All that hangs together with an item. */
function findTied(index: number, all: readonly CallTies[], seen: Set<number>): number[] {
  const tied = [index];
  seen.add(index);
  // Grows while it is walked.
  for (const member of tied)
    for (const other of [...(all[member]?.results ?? []), ...(all[member]?.calls ?? [])])
      if (!seen.has(other)) {
        seen.add(other);
        tied.push(other);
      }
  return tied.sort((one, other) => one - other);
}

function holdsCalls({ parts }: Message): boolean {
  return parts.some(({ type }) => type === 'toolCall');
}
