import type { ProviderAdapter } from '../adapters/adapter.ts';
import type { Message, Part } from '../message.ts';
import type { ItemReader } from './reading.ts';

/**
 * Gives a new id to each call that has none, or whose id an earlier call has already where the provider takes none twice, and to its
 * result. Each call is answered right behind its item, if at all. The same array where nothing is renamed.
 */
export function renameRepeatedCalls<Request, Item, Reply>(
  items: readonly Item[],
  { adapter, read }: { adapter: ProviderAdapter<Request, Item, Reply>; read: ItemReader<Item> },
): readonly Item[] {
  const { uniqueCallIds: scope } = adapter;
  let known = new Set<string>();
  const repeated = new Map<string, number>();
  /** What the calls of the newest message are called now, for each id in their order: their results come in that order, too. */
  let names = new Map<string, string[]>();
  let changed = false;

  /** An id that no call has yet. */
  function createId(id: string): string {
    let count = repeated.get(id) ?? 1;
    let created: string;
    // Providers take no id that is much longer.
    do created = `${id.slice(0, 32) || 'historical'}_${++count}`;
    while (known.has(created));
    repeated.set(id, count);
    return created;
  }

  function rename(part: Part): Part {
    if (part.type === 'toolResult') return { ...part, callId: names.get(part.callId)?.shift() ?? part.callId };
    if (part.type !== 'toolCall') return part;
    const id = part.id === '' || known.has(part.id) ? createId(part.id) : part.id;
    if (scope) known.add(id);
    const others = names.get(part.id);
    if (others) others.push(id);
    else names.set(part.id, [id]);
    return id === part.id ? part : { ...part, id };
  }

  const renamed = items.flatMap((item): Item[] => {
    const { messages } = read(item);
    const written = messages.map((message): Message => {
      if (message.role === 'assistant') {
        names = new Map(); // what was called before is answered
        if (scope === 'message') known = new Set();
      }
      return { ...message, parts: message.parts.map(rename) };
    });
    const isSame = written.every(({ parts }, index) =>
      parts.every((part, place) => idOf(part) === idOf(messages[index]?.parts[place])),
    );
    if (isSame) return [item];
    changed = true;
    return written.flatMap((message) => adapter.writeMessage(message));
  });
  return changed ? renamed : items;
}

function idOf(part: Part | undefined): string | undefined {
  if (part?.type === 'toolCall') return part.id;
  return part?.type === 'toolResult' ? part.callId : undefined;
}
