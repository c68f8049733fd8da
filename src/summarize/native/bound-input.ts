import type { Omitted } from '../../events.ts';
import { boundItems } from '../bound.ts';
import { isWorthAsking, limitOf } from '../fit-window.ts';
import type { SummaryTask } from '../summarizer.ts';

/** A conversation that was cut for the provider's own compaction. */
export interface BoundedInput<Item> {
  items: readonly Item[];
  omitted?: Omitted | undefined;
}

/** What comes after an earlier compaction has at least so many tokens, however large that is. */
const leastAfterMarker = 256;

/**
 * The conversation as the provider can compact it: undefined where it fits as it is. Where it holds an earlier compaction of the provider,
 * that stands for all before it: it is kept, whatever its size, and what came after it is cut to the rest. V31
 *
 * @throws CompactionError `summarizer-overflow` where nothing of it fits.
 */
export function boundInput<Request, Item, Reply>(
  task: SummaryTask<Request, Item, Reply>,
  isMarker: (item: Item) => boolean,
): BoundedInput<Item> | undefined {
  const { adapter, request, countItems, roomForOutput, maxTokens } = task;
  if (isWorthAsking(roomForOutput, maxTokens)) return undefined;
  const items = adapter.items(request);
  const limit = limitOf(task, countItems(items));
  const last = items.findLastIndex(isMarker);
  if (last === -1) return boundItems(task, limit);
  const first = items.findIndex((item) => isMarker(item) || !task.isStanding(item));
  const kept = [...items.slice(0, first), ...items.slice(last, last + 1)];
  const after = items.slice(last + 1);
  const room = Math.max(leastAfterMarker, limit - countItems(kept));
  if (countItems(after) <= room) return { items: [...kept, ...after] };
  const { items: cut, omitted } = boundItems({ ...task, request: adapter.withItems(request, after) }, room);
  return { items: [...kept, ...cut], omitted };
}
