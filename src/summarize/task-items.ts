import type { CutOptions } from '../history/preview-items.ts';
import type { SizedItem } from '../history/protocol-groups.ts';
import { createItemReader } from '../history/reading.ts';
import { repairItems } from '../history/repair.ts';
import type { SummaryTask } from './summarizer.ts';

export function sizeItem<Request, Item, Reply>(
  { adapter, countItems }: Pick<SummaryTask<Request, Item, Reply>, 'adapter' | 'countItems'>,
  item: Item,
): SizedItem<Item> {
  return { items: [item], messages: adapter.readItem(item), tokens: countItems([item]) };
}

export function cutOptionsOf<Request, Item, Reply>({
  adapter,
  countItems,
  countTokens,
}: Pick<SummaryTask<Request, Item, Reply>, 'adapter' | 'countItems' | 'countTokens'>): CutOptions<Item> {
  return { write: (message) => adapter.writeMessage(message), countItems, countTokens };
}

/** Where a shape has several kinds of calls, what was cut may no longer be of the kind of its other half. */
export function pairAgain<Request, Item, Reply>(
  { adapter }: Pick<SummaryTask<Request, Item, Reply>, 'adapter'>,
  items: readonly Item[],
): readonly Item[] {
  const read = createItemReader(adapter);
  return repairItems(items.map(read), { adapter, read }, { closeOpen: true }).items;
}
