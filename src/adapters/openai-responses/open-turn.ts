import { callKey, isInstruction, isModelItem, isOwnResult, isReasoning, kindOf, resultKey } from './item-kinds.ts';
import type { ResponsesItem } from './shape.ts';

/**
 * Where the last turn of the model begins, if only results, and instructions beside them, came after it; the number of items where it is
 * over. One turn is several items here: calls made in parallel, and the reasoning before each.
 */
export function startOfOpenTurn(items: readonly ResponsesItem[]): number {
  const end = items.findLastIndex((item) => !isResult(item) && !isInstruction(item)) + 1;
  let start = end;
  for (let last = items[start - 1]; last && mayStandInside(last); last = items[start - 1]) start--;
  return start === end ? items.length : start;
}

/**
 * The kind of the item that something else still has to follow: a call without its result, though others that were made with it have
 * theirs; reasoning without what it led to; the trigger of a compaction by the provider. Undefined where there is none.
 */
export function findPending(items: readonly ResponsesItem[]): string | undefined {
  const last = items.at(-1);
  if (last && (isReasoning(last) || kindOf(last) === 'compaction_trigger')) return kindOf(last);
  const waiting = new Map<string, ResponsesItem[]>();
  for (const item of items.slice(startOfOpenTurn(items))) {
    const call = callKey(item);
    const others = call === undefined ? undefined : waiting.get(call);
    if (others) others.push(item);
    else if (call !== undefined) waiting.set(call, [item]);
    waiting.get(resultKey(item) ?? '')?.pop();
  }
  const [open] = [...waiting.values()].flat();
  return open && kindOf(open);
}

/** The provider's own tools return in the middle of a turn. */
function mayStandInside(item: ResponsesItem): boolean {
  return isModelItem(item) || (isResult(item) && !isOwnResult(item));
}

function isResult(item: ResponsesItem): boolean {
  return kindOf(item).endsWith('_output') || resultKey(item) !== undefined;
}
