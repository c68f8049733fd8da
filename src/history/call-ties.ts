import type { Message, Part } from '../message.ts';

/** How an item is tied to others by the calls of tools. */
export interface CallTies {
  /** The items that answer its calls, by index, in their order. */
  results: number[];
  /** The items whose calls it answers, by index. */
  calls: number[];
  /** A call of it has no result, or no id by which it can be told from those beside it. */
  isOpen: boolean;
  /** A result of it has no call. */
  isOrphan: boolean;
}

/**
 * Pairs calls with results, for each item. By id and by occurrence: a result answers the nearest call of its id that has none yet. Some
 * providers let it stand many items behind.
 */
export function tieCalls(items: readonly { messages: readonly Message[] }[]): CallTies[] {
  const all = items.map((): CallTies => ({ results: [], calls: [], isOpen: false, isOrphan: false }));
  /** For each id the items with a call that waits, the nearest last. */
  const waiting = new Map<string, number[]>();
  for (const [index, ties] of all.entries())
    for (const { parts } of items[index]?.messages ?? []) {
      if (!haveOwnIds(parts)) ties.isOpen = true;
      for (const part of parts) {
        if (part.type === 'toolCall') {
          const others = waiting.get(part.id);
          if (others) others.push(index);
          else waiting.set(part.id, [index]);
        } else if (part.type === 'toolResult') {
          const call = waiting.get(part.callId)?.pop();
          if (call === undefined) ties.isOrphan = true;
          else if (call !== index) {
            all[call]?.results.push(index);
            ties.calls.push(call);
          }
        }
      }
    }
  for (const index of [...waiting.values()].flat()) {
    const ties = all[index];
    if (ties) ties.isOpen = true;
  }
  return all;
}

/** V19 */
function haveOwnIds(parts: readonly Part[]): boolean {
  const ids = parts.flatMap((part) => (part.type === 'toolCall' ? [part.id] : []));
  return new Set(ids).size === ids.length && !ids.includes('');
}
