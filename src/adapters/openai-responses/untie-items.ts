import { callKey, isOwnCall, isReasoning, kindOf, resultKey } from './item-kinds.ts';
import { withoutServerId } from './repair-item.ts';
import type { ResponsesItem } from './shape.ts';

/**
 * The items without ties to reasoning that stood before them in the request and is gone: the server knows an item by its id, and wants the
 * reasoning that led to it (B021). A message or a call stays without the id. What the provider ran itself goes, with its result, and so
 * does the rest of several reasoning items in a row.
 */
export function untieItems(items: readonly ResponsesItem[], before: readonly ResponsesItem[]): readonly ResponsesItem[] {
  const kept = new Set(items);
  const untied = new Map<ResponsesItem, readonly ResponsesItem[]>();
  const gone = new Set<string | undefined>();
  before.forEach((item, index) => {
    const reasoning = before[index - 1];
    if (!reasoning || !isReasoning(reasoning) || kept.has(reasoning) || !kept.has(item) || typeof item.id !== 'string') return;
    if (isReasoning(item)) kept.delete(item);
    if (isOwnCall(item) || (kindOf(item) === 'message' && item.role === 'assistant')) untied.set(item, [withoutServerId(item)]);
    else if (isReasoning(item) || kindOf(item).endsWith('_call')) {
      untied.set(item, []);
      gone.add(callKey(item));
    }
  });
  if (untied.size === 0) return items;
  gone.delete(undefined);
  return items.filter((item) => !gone.has(resultKey(item))).flatMap((item) => untied.get(item) ?? [item]);
}
