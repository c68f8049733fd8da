import type { ProviderAdapter } from '../adapters/adapter.ts';
import { isBytes, isPlainObject } from '../any-realm.ts';
import { copyDeep } from '../copy.ts';
import { checkNesting, fingerprint } from '../history/fingerprint.ts';
import { isSystem } from '../history/reading.ts';
import type { Message } from '../message.ts';
import type { NativeItem, StoredMessages } from './event.ts';

/**
 * Native items as a session stores them: neutral messages without system messages, and beside them the items that these alone would not
 * give back. Copies.
 *
 * @example
 * await session.appendTurn({ ...readTurn(adapter, items), snapshot: loop.snapshot() });
 */
export function readTurn<Request, Item, Reply>(
  adapter: ProviderAdapter<Request, Item, Reply>,
  items: readonly Item[],
): StoredMessages {
  const messages: Message[] = [];
  const native: NativeItem[] = [];
  for (const item of items) {
    const read = adapter.readItem(item);
    // A checkpoint of the provider stands for all before it, whatever its role is.
    if (isStanding(read)) continue;
    if (isPlain(item) && !isWritten(adapter, item, read))
      native.push({ item: copyDeep(item), from: messages.length, count: read.length });
    messages.push(...copyDeep(read));
  }
  return native.length > 0 ? { messages, native: { provider: adapter.name, items: native } } : { messages };
}

/** Stored messages as items of the adapter's shape: its own items where they were kept, else written anew. */
export function writeItems<Request, Item, Reply>(
  adapter: ProviderAdapter<Request, Item, Reply>,
  { messages, native }: StoredMessages,
): Item[] {
  const items: Item[] = [];
  let next = 0;
  const writeUpTo = (end: number): void => {
    for (const message of messages.slice(next, end)) items.push(...adapter.writeMessage(message));
    next = Math.max(next, end);
  };
  for (const { item, from, count } of native?.provider === adapter.name ? native.items : []) {
    if (from < next) continue;
    writeUpTo(from);
    // Stored under the adapter's name, from an item that it had read.
    items.push(copyDeep(item) as Item);
    next = from + count;
  }
  writeUpTo(messages.length);
  return items;
}

/** Standing instructions come with each request: none are stored. */
export function withoutStanding({ messages, native }: StoredMessages): StoredMessages {
  const said = messages.filter((message) => !isStanding([message]));
  return said.length === messages.length ? { messages, native } : { messages: said };
}

function isStanding(messages: readonly Message[]): boolean {
  return (
    isSystem({ messages }) && !messages.every(({ parts }) => parts.length > 0 && parts.every(({ type }) => type === 'native'))
  );
}

function isWritten<Request, Item, Reply>(
  adapter: ProviderAdapter<Request, Item, Reply>,
  item: Item,
  read: readonly Message[],
): boolean {
  const [written, ...others] = read.flatMap((message) => adapter.writeMessage(message));
  return others.length === 0 && written !== undefined && fingerprint(written) === fingerprint(item);
}

/** True for what a store gives back as it was: an instance of a framework's class would come back as another thing. */
function isPlain(value: unknown, depth = 0): boolean {
  checkNesting(depth);
  if (typeof value !== 'object' || value === null) return typeof value !== 'function' && typeof value !== 'symbol';
  if (isBytes(value)) return true;
  if (Array.isArray(value)) return value.every((entry) => isPlain(entry, depth + 1));
  return isPlainObject(value) && Object.values(value).every((entry) => isPlain(entry, depth + 1));
}
