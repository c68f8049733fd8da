import { isSameList } from '../adapters/lists.ts';
import type { Omitted } from '../events.ts';
import { sumTokens } from '../history/newest-groups.ts';
import { cutItem } from '../history/preview-items.ts';
import type { SizedItem } from '../history/protocol-groups.ts';
import { countLeadingSystem } from '../history/reading.ts';
import { hasUserContent } from '../history/turns.ts';
import { shareOf } from './fair-share.ts';
import { validateKeepLast } from './strategy-options.ts';
import type { NativeSummary, Summarizer, SummaryTask } from './summarizer.ts';
import { cutOptionsOf, pairAgain, sizeItem } from './task-items.ts';

export interface KeepLastOptions {
  /** Asks the summarizer however few messages there are. Default false. */
  always?: boolean | undefined;
}

/**
 * Asks no model where the conversation has at most `count` messages, system messages not counted: a few messages that are too
 * long are cut to what the window has room for, and stay what they are. What the user said is never cut. Where that does not
 * suffice, where there are more messages, and for a compaction by hand, the summarizer is asked. V44
 *
 * @throws CompactionError `invalid-options`
 * @example
 * const summarizer = keepLast(4, forkSummarizer());
 */
export function keepLast(count: number, summarizer: Summarizer, options: KeepLastOptions = {}): Summarizer {
  validateKeepLast({ count, summarizer, options });
  const { always = false } = options;
  return async (task) => {
    const few = !always && task.trigger === 'automatic' && countMessages(task) <= count;
    return (few ? shortenItems(task) : undefined) ?? summarizer(task);
  };
}

function countMessages({ messages }: Pick<SummaryTask<unknown, unknown, unknown>, 'messages'>): number {
  return messages.filter(({ role }) => role !== 'system').length;
}

/** The conversation with its long messages cut; undefined where that is not enough, or not known to be. */
function shortenItems<Request, Item, Reply>(task: SummaryTask<Request, Item, Reply>): NativeSummary<Item> | undefined {
  const { adapter, request, countItems, target } = task;
  if (target === undefined) return undefined;
  const all = adapter.items(request).map((item) => sizeItem(task, item));
  const body = all.slice(countLeadingSystem(all));
  const before = sumTokens(body);
  if (before <= target) return { items: itemsOf(body) };
  const items = itemsOf(cutToShare(task, body, target));
  const tokens = countItems(items);
  // What was cut may be another kind of item than its other half.
  const paired = pairAgain(task, items);
  if (tokens > target || !isSameList(paired, items)) return undefined;
  const omitted: Omitted = { items: 0, tokens: before - tokens };
  return { items, omitted };
}

/** What the user said stays, and so does an earlier summary; of what is left of the target each other item has the same share. */
function cutToShare<Request, Item, Reply>(
  task: SummaryTask<Request, Item, Reply>,
  body: readonly SizedItem<Item>[],
  target: number,
): SizedItem<Item>[] {
  const stays = ({ items, messages }: SizedItem<Item>): boolean => items.some(task.isStanding) || messages.some(hasUserContent);
  const others = body.filter((sized) => !stays(sized));
  const room = target - sumTokens(body) + sumTokens(others);
  const share = shareOf(
    others.map(({ tokens }) => tokens),
    room,
  );
  const options = cutOptionsOf(task);
  return body.map((sized) => (stays(sized) ? sized : cutItem(sized, share, options)));
}

function itemsOf<Item>(sized: readonly SizedItem<Item>[]): Item[] {
  return sized.flatMap(({ items }) => items);
}
