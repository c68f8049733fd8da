import type { ProviderAdapter } from '../adapters/adapter.ts';
import { CompactionError } from '../errors.ts';
import type { Message } from '../message.ts';
import { memoizeByContent } from './content-memo.ts';
import { fingerprint } from './fingerprint.ts';
import { makeWellFormed } from './well-formed.ts';

/** One native item, read once: what it says, and a fingerprint of that. */
export interface Reading<Item> {
  readonly item: Item;
  readonly messages: readonly Message[];
  readonly fingerprint: string;
  /** The item as the provider accepts it, undefined where nothing is left of it; the same object where nothing is wrong. */
  readonly sound: Item | undefined;
  /** What was wrong, one sentence a kind. */
  readonly repairs: readonly string[];
  /** The item without reasoning, undefined where nothing is left; the same reading where there is none. */
  readonly withoutReasoning: () => Reading<Item> | undefined;
  /** Where it stood last: the fingerprint of all before it, and of all up to it. */
  readonly place: { previous: string | undefined; link: string };
}

/** Reads items through an adapter. An item is read again only after it was edited in place. */
export type ItemReader<Item> = (item: Item) => Reading<Item>;

/**
 * @throws CompactionError `invalid-request` from the reader, for an item that is no object or that the adapter cannot read.
 */
export function createItemReader<Shape, Item, Reply>(adapter: ProviderAdapter<Shape, Item, Reply>): ItemReader<Item> {
  // The check below makes every item an object, which is what the memo's keys must be.
  const read = memoizeByContent((item: Item & object): Reading<Item> => {
    const messages = adapter.readItem(item);
    let bare: Reading<Item> | undefined | null = null;
    const reading: Reading<Item> = {
      item,
      messages,
      fingerprint: fingerprint(messages),
      ...makeSound(adapter, item),
      withoutReasoning: () => {
        if (bare === null) bare = readBare(reading);
        return bare;
      },
      place: { previous: undefined, link: '' },
    };
    return reading;
  });
  const readBare = (reading: Reading<Item>): Reading<Item> | undefined => {
    const bare = adapter.withoutReasoning(reading.item);
    if (bare === reading.item) return reading;
    return bare === undefined ? undefined : readAny(bare);
  };
  const readAny: ItemReader<Item> = (item) => {
    if (typeof item !== 'object' || item === null)
      throw new CompactionError(
        'invalid-request',
        `Expected each item to be an object, got ${item === null ? 'null' : typeof item}.`,
      );
    return read(item);
  };
  return readAny;
}

function makeSound<Shape, Item, Reply>(
  adapter: ProviderAdapter<Shape, Item, Reply>,
  item: Item,
): { sound: Item | undefined; repairs: string[] } {
  const repairs: string[] = [];
  const formed = makeWellFormed(item);
  if (formed !== item) repairs.push('Broken characters were replaced.');
  const sound = adapter.repairItem(formed);
  if (sound !== formed) repairs.push('Parts that the provider refuses were left out.');
  return { sound, repairs };
}

/** True for an item that holds standing instructions only. */
export function isSystem({ messages }: Pick<Reading<unknown>, 'messages'>): boolean {
  return messages.length > 0 && messages.every((message) => message.role === 'system');
}

/**
 * True for a standing item that only the provider can read, such as its own compaction: it stands for all before it, so it stays in front.
 */
export function isCheckpoint(reading: Reading<unknown>): boolean {
  return (
    isSystem(reading) && reading.messages.every(({ parts }) => parts.length > 0 && parts.every(({ type }) => type === 'native'))
  );
}

/** Items of which the checkpoints stand first, otherwise in their order. */
export function checkpointsFirst<Item>(readings: readonly Reading<Item>[]): Reading<Item>[] {
  return [...readings.filter(isCheckpoint), ...readings.filter((reading) => !isCheckpoint(reading))];
}

/** How many items at the start hold standing instructions only. */
export function countLeadingSystem(items: readonly Pick<Reading<unknown>, 'messages'>[]): number {
  const first = items.findIndex((item) => !isSystem(item));
  return first === -1 ? items.length : first;
}

/** All messages of the items, in order. */
export function messagesOf(readings: readonly Reading<unknown>[]): Message[] {
  return readings.flatMap((reading) => reading.messages);
}
