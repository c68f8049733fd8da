/**
 * The items with the messages of the system behind the beginning joined to what the system says in front, word for word, for shapes whose
 * models take them nowhere else. Items that the request had already in their places stay, however odd.
 */
export function liftSystem<Item>(
  items: readonly Item[],
  known: readonly Item[],
  isSystem: (item: Item) => boolean,
  join: (front: Item | undefined, late: readonly Item[]) => readonly Item[],
): readonly Item[] {
  let same = 0;
  while (same < items.length && items[same] === known[same]) same++;
  const begin = items.findIndex((item) => !isSystem(item));
  if (begin === -1) return items;
  const start = Math.max(begin, same);
  const late = items.slice(start).filter(isSystem);
  if (late.length === 0) return items;
  const rest = [...items.slice(begin, start), ...items.slice(start).filter((item) => !isSystem(item))];
  return [...items.slice(0, Math.max(0, begin - 1)), ...join(items[begin - 1], late), ...rest];
}
