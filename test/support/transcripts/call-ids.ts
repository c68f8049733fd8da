import type { RecordedCall } from './recording.ts';

/**
 * An id for each call that the provider accepts: `clean` makes it valid, a number makes it differ from those in `taken`.
 *
 * @example
 * const ids = nameCalls(callsOf(turn.reply), (id) => id.slice(-40), new Set());
 */
export function nameCalls(
  calls: readonly RecordedCall[],
  clean: (id: string) => string,
  taken: Set<string>,
): Map<RecordedCall, string> {
  const ids = new Map<RecordedCall, string>();
  for (const call of calls) {
    const id = clean(call.id);
    let free = id;
    for (let number = 2; taken.has(free); number++) free = clean(`${id}_${number}`);
    taken.add(free);
    ids.set(call, free);
  }
  return ids;
}
