/** What the largest of several may have of a room, so that all fit together: what the smaller ones do not use is theirs. */
export function shareOf(sizes: readonly number[], room: number): number {
  let left = room;
  let share = 0;
  for (const [index, size] of [...sizes].sort((a, b) => a - b).entries()) {
    share = Math.floor(left / (sizes.length - index));
    if (size > share) break;
    left -= size;
  }
  return Math.max(0, share);
}
