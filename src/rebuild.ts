import type { ProviderAdapter } from './adapters/adapter.ts';
import { describePlacement } from './history/describe-placement.ts';
import { checkpointsFirst, type ItemReader, isCheckpoint, type Reading } from './history/reading.ts';
import { repairItems } from './history/repair.ts';
import { findReasonedLoop } from './history/tail/reasoned-loop.ts';
import type { IsUserInput } from './history/turns.ts';
import { type RequestView, readRequest } from './history/view.ts';

/** What becomes of reasoning that was written behind another beginning of the conversation. */
export type ReasoningRule = 'strip' | 'keep' | 'drop-block';

export interface RebuildDeps<Request, Item, Reply> {
  adapter: ProviderAdapter<Request, Item, Reply>;
  read: ItemReader<Item>;
  isUserInput: IsUserInput;
  reasoning: ReasoningRule;
}

/** A conversation in which a replacement takes the place of its beginning. */
export interface RebuiltParts<Item> {
  leading: readonly Reading<Item>[];
  replacement: readonly Reading<Item>[];
  /** Standing instructions from the part that was replaced. */
  laterSystem: readonly Reading<Item>[];
  /** What follows, and was said before the replacement was there. */
  rebased: readonly Reading<Item>[];
  /** What was said after. */
  rest: readonly Reading<Item>[];
}

export interface Rebuilt<Request, Item> {
  view: RequestView<Request, Item>;
  repairs: readonly string[];
  /** How many of the items that were said before are left: what holds nothing but reasoning may go. */
  rebased: number;
}

/** The request with the replacement in its place, as the provider accepts it. */
export function rebuildRequest<Request, Item, Reply>(
  request: Request,
  { leading, replacement, laterSystem, rebased, rest }: RebuiltParts<Item>,
  deps: RebuildDeps<Request, Item, Reply>,
): Rebuilt<Request, Item> {
  const { adapter, read, reasoning } = deps;
  // A checkpoint of the provider stands for all before it, earlier ones included. V60
  const standsForAll = replacement.some(isCheckpoint);
  const isOutdated = (reading: Reading<Item>): boolean => standsForAll && isCheckpoint(reading);
  const standing = laterSystem.filter((reading) => !isOutdated(reading));
  const settled = settleReasoning(request, rebased, rest, deps);
  const readings = [
    ...leading.filter((reading) => !isOutdated(reading)),
    ...(standsForAll ? [...replacement, ...standing] : checkpointsFirst([...replacement, ...standing])),
    ...settled,
    ...rest,
  ];
  const { items, repairs } = repairItems(readings, deps, { closeOpen: false });
  const rebuilt = adapter.withItems(request, items);
  const sent = reasoning === 'drop-block' ? (adapter.letReasoningDrop?.(rebuilt) ?? rebuilt) : rebuilt;
  const view = readRequest(adapter, read, sent);
  return { view, repairs: [...repairs, ...describePlacement(items, view, read)], rebased: settled.length };
}

/** What was said before a replacement was there, as it may stand behind it: reasoning is bound to what stood before. */
function settleReasoning<Request, Item, Reply>(
  request: Request,
  rebased: readonly Reading<Item>[],
  rest: readonly Reading<Item>[],
  { adapter, isUserInput, reasoning }: RebuildDeps<Request, Item, Reply>,
): readonly Reading<Item>[] {
  if (reasoning !== 'strip') return rebased;
  const needed = adapter.loopNeedsReasoning?.(request) ? findReasonedLoop([...rebased, ...rest], isUserInput) : undefined;
  return rebased.flatMap((reading, index) => {
    const bare = needed !== undefined && index >= needed ? reading : reading.withoutReasoning();
    return bare ? [bare] : [];
  });
}
