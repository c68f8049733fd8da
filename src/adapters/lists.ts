/** True for the very same entries in the same order. */
export function isSameList(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((entry, index) => entry === right[index]);
}

/** What comes from the first entry on of which it is not true. */
export function dropLeading<Entry>(entries: readonly Entry[], isDropped: (entry: Entry) => boolean): readonly Entry[] {
  const first = entries.findIndex((entry) => !isDropped(entry));
  return first === -1 ? [] : entries.slice(first);
}
