import type { ProviderAdapter } from '../adapters/adapter.ts';
import { createItemReader } from '../history/reading.ts';
import { endMark, type Mark, readRequest, startsWith } from '../history/view.ts';
import type { ConversationSnapshot } from '../snapshot.ts';
import type { MarkName } from './event.ts';
import { writeItems } from './native-items.ts';
import type { ProjectedPart, Projection } from './projection.ts';

/** A conversation to go on with. */
export interface RestoredConversation<Request> {
  /** The request with the conversation in it. */
  request: Request;
  /** For `loop` or `createCompactor(…).restore`. Undefined where no loop has left its state. */
  snapshot: ConversationSnapshot | undefined;
}

/** Writes a projection behind what a request holds, and finds the places that its snapshot names there. */
export function restoreConversation<Request, Item, Reply>(
  adapter: ProviderAdapter<Request, Item, Reply>,
  request: Request,
  { parts, snapshot, places }: Projection,
): RestoredConversation<Request> {
  const items = parts.map((part) => writePart(adapter, part));
  const standing = adapter.items(request);
  const upTo = (count: number): Request => adapter.withItems(request, [...standing, ...items.slice(0, count).flat()]);
  const restored = upTo(items.length);
  if (!snapshot) return { request: restored, snapshot };
  const read = createItemReader(adapter);
  const view = readRequest(adapter, read, restored);
  // System messages and whole outputs are not stored: where these are missing, the places of the stored state are elsewhere here.
  const markAt = (name: MarkName): Mark | undefined => {
    const [mark, count] = [snapshot.trigger[name], places[name]];
    if (!mark || startsWith(view, mark)) return mark;
    return count === undefined ? undefined : endMark(readRequest(adapter, read, upTo(count)));
  };
  const trigger = { ...snapshot.trigger, attempt: markAt('attempt'), reportedAt: markAt('reportedAt') };
  return { request: restored, snapshot: { ...snapshot, trigger } };
}

function writePart<Request, Item, Reply>(adapter: ProviderAdapter<Request, Item, Reply>, part: ProjectedPart): Item[] {
  const items = writeItems(adapter, part);
  if (!part.rebased) return items;
  return items.flatMap((item) => adapter.withoutReasoning(item) ?? []);
}
