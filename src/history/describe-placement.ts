import { type ItemReader, isSystem, type Reading } from './reading.ts';

/**
 * What became of the system messages between the turns, where a request was put together of these items: shapes take them at some places
 * only. Empty where each stands where it stood.
 */
export function describePlacement<Item>(
  items: readonly Item[],
  rebuilt: { readonly leading: readonly Reading<Item>[]; readonly body: readonly Reading<Item>[] },
  read: ItemReader<Item>,
): readonly string[] {
  const placed = placeSystem([...rebuilt.leading, ...rebuilt.body]);
  const stay = [...placeSystem(items.map(read))].every(([item, place]) => place === 0 || placed.get(item) === place);
  return stay ? [] : ['System messages between the turns were put where, and as, the provider takes them.'];
}

/** System messages, and how many others stand before each. */
function placeSystem<Item>(readings: readonly Reading<Item>[]): Map<Item, number> {
  const places = new Map<Item, number>();
  let before = 0;
  for (const reading of readings) {
    if (isSystem(reading)) places.set(reading.item, before);
    else before++;
  }
  return places;
}
