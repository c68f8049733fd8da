import { CompactionError } from '../errors.ts';
import type { Omitted } from '../events.ts';
import { sumTokens } from '../history/newest-groups.ts';
import { cutItem } from '../history/preview-items.ts';
import type { SizedItem } from '../history/protocol-groups.ts';
import { countLeadingSystem } from '../history/reading.ts';
import type { Message } from '../message.ts';
import { fitItems, requireRoom } from './fit-items.ts';
import type { SummaryTask } from './summarizer.ts';
import { cutOptionsOf, pairAgain, sizeItem } from './task-items.ts';

/** A conversation that fits. */
export interface BoundedItems<Item> {
  items: readonly Item[];
  tokens: number;
  omitted: Omitted;
}

type BoundTask<Request, Item, Reply> = Pick<
  SummaryTask<Request, Item, Reply>,
  'adapter' | 'request' | 'countTokens' | 'countItems' | 'isStanding'
>;

/** What one result of a tool may have in a conversation that is too long, in tokens. V26 */
export const mostResultTokens = 4096;

/**
 * The conversation of a request, cut for the summarizer alone until it has at most so many tokens: long results of tools first, then what
 * `fitItems` leaves out. System items stay. V25–V30
 *
 * @throws CompactionError `summarizer-overflow` where nothing of it fits.
 */
export function boundItems<Request, Item, Reply>(task: BoundTask<Request, Item, Reply>, limit: number): BoundedItems<Item> {
  requireCompleteHistory(task);
  const { adapter, request, countItems } = task;
  const all = adapter.items(request).map((item) => sizeItem(task, item));
  const [leading, body] = partStanding(task, all, limit);
  const room = limit - sumTokens(leading);
  requireRoom(room);
  const options = cutOptionsOf(task);
  // Before groups are counted, so that one dump does not drive out all the others. V26
  const pruned = body.map((item) => cutItem(item, mostResultTokens, options, isToolOnly));
  const kept = fitItems(pruned, room, options);
  const items = pairAgain(
    task,
    [...leading, ...kept].flatMap((sized) => sized.items),
  );
  return {
    items,
    tokens: countItems(items),
    omitted: { items: body.length - kept.length, tokens: Math.max(0, sumTokens(body) - sumTokens(kept)) },
  };
}

/**
 * What is on the server cannot be cut.
 *
 * @throws CompactionError `summarizer-overflow` where the beginning of the history is there.
 */
export function requireCompleteHistory<Request, Item, Reply>({
  adapter,
  request,
}: Pick<SummaryTask<Request, Item, Reply>, 'adapter' | 'request'>): void {
  if (adapter.context(request).heldBefore !== undefined)
    throw new CompactionError('summarizer-overflow', 'Expected a history that can be shortened, but the server holds it.');
}

/** What stands at the beginning is kept whole, unless an earlier summary alone would leave hardly any room. */
function partStanding<Request, Item, Reply>(
  { isStanding }: BoundTask<Request, Item, Reply>,
  items: readonly SizedItem<Item>[],
  limit: number,
): [leading: readonly SizedItem<Item>[], body: readonly SizedItem<Item>[]] {
  const first = items.findIndex((sized) => !sized.items.every(isStanding));
  const standing = items.slice(0, first === -1 ? items.length : first);
  const systemOnly = standing.slice(0, countLeadingSystem(standing));
  const leading = sumTokens(standing) * 2 > limit && sumTokens(systemOnly) < sumTokens(standing) ? systemOnly : standing;
  return [leading, items.slice(leading.length)];
}

function isToolOnly({ role }: Message): boolean {
  return role === 'tool';
}
