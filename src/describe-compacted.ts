import type { Compaction } from './compaction.ts';
import { copyDeep } from './copy.ts';
import type { Notice } from './events.ts';
import { isCheckpoint, isSystem, messagesOf, type Reading } from './history/reading.ts';
import type { RequestView } from './history/view.ts';
import type { CompactionCommit } from './options.ts';

/**
 * What a host stores of a compaction, item by item, in copies: standing instructions and reminders come with each request. `raw` is the
 * caller's own conversation.
 */
export function describeCompacted<Request, Item>(
  raw: RequestView<Request, Item>,
  { view, rebuilt, seen, kept }: Compaction<Request, Item>,
): Pick<CompactionCommit<Request>, 'covered' | 'seen' | 'replacement' | 'kept' | 'items' | 'request'> {
  // A checkpoint of the provider stands for all before it, whatever its role is.
  const isSaid = (reading: Reading<Item>): boolean => !isSystem(reading) || isCheckpoint(reading);
  const replacement = [...view.leading, ...view.body.slice(0, rebuilt.count)].filter(isSaid);
  const behind = view.body.slice(rebuilt.count, seen.count).filter(isSaid);
  const length = raw.leading.length + raw.body.length;
  return {
    // What stands for the history of the server is no item of the caller's.
    covered: length - kept - (raw.held ? 1 : 0),
    seen: raw.held ? undefined : length,
    replacement: copyDeep(messagesOf(replacement)),
    kept: copyDeep(messagesOf(behind)),
    items: copyDeep([...replacement, ...behind].map(({ item }) => item)),
    request: copyDeep(view.request),
  };
}

/** What is worth knowing of a compaction that was applied. */
export function noticesOf({ repairs, changed, omitted }: Compaction<unknown, unknown>): Notice[] {
  const notices: Notice[] = [];
  if (repairs.length > 0) notices.push({ code: 'repaired', message: repairs.join(' ') });
  if (changed.length > 0)
    notices.push({ code: 'prefix-changed', message: `The summary request differs from its parent: ${changed.join(', ')}.` });
  if (omitted)
    notices.push({
      code: 'omitted',
      message: `The conversation was shortened for its summary: ${omitted.items} items and ${omitted.tokens} tokens were left out.`,
    });
  return notices;
}
