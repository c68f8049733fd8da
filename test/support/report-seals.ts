/** What the kits put where providers put what only they can read. */
const opaque = new Set(['c2lnbmVk', 'b3BhcXVl', 'b3Bh']);

/** LangChain's messages also keep what they were made of. */
const madeOf = 'lc_kwargs';

/** Where an opaque text is: in which item, and in which object of it. */
export interface Seal {
  index: number;
  holder: object;
}

/** The items with an opaque text of its own in each place that has one, and where each is. */
export function tagSeals<Item extends object>(items: readonly Item[]): { tagged: Item[]; seals: ReadonlyMap<string, Seal> } {
  const seals = new Map<string, Seal>();
  const copy = <Value extends object>(value: Value, index: number): Value => {
    const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype || madeOf in value;
    if (!isPlain) return value;
    const holder = Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value));
    for (const [key, entry] of Object.entries(value)) {
      holder[key] = typeof entry === 'object' && entry !== null && key !== madeOf ? copy(entry, index) : entry;
      if (!opaque.has(entry)) continue;
      holder[key] = btoa(`seal ${seals.size} of item ${index}`);
      seals.set(holder[key], { index, holder });
    }
    return holder;
  };
  return { tagged: items.map(copy), seals };
}

/** For each of the texts, all objects of a value that hold it. */
export function holdersIn(value: object, texts: ReadonlyMap<string, unknown>): Map<string, object[]> {
  const holders = new Map<string, object[]>();
  const visit = (holder: object): void => {
    for (const [key, entry] of Object.entries(holder)) {
      if (key === madeOf || ArrayBuffer.isView(entry)) continue;
      if (typeof entry === 'object' && entry !== null) visit(entry);
      else if (texts.has(entry)) holders.set(entry, [...(holders.get(entry) ?? []), holder]);
    }
  };
  visit(value);
  return holders;
}
