import { isNothing, stringOf } from '../fields.ts';
import { kindOf } from './item-kinds.ts';
import type { ResponsesItem } from './shape.ts';

/**
 * The items with an id for each call of the caller's own tools that has none, and for its result: the next one of its kind without an id,
 * in the order of the calls. The same array where nothing is named. A hand-off has a name, and no call (B020).
 */
export function nameCalls(items: readonly ResponsesItem[]): readonly ResponsesItem[] {
  const waiting = new Map<string, string[]>([
    ['function_call', []],
    ['custom_tool_call', []],
  ]);
  let count = 0;
  const named = items.map((item) => {
    if (stringOf(item.call_id) !== '') return item;
    const kind = kindOf(item);
    const call = waiting.get(kind);
    if (call && !('output' in item)) {
      const call_id = `historical_${++count}`;
      call.push(call_id);
      return { ...item, call_id };
    }
    const isResult = kind.endsWith('_output') && isNothing(item.name);
    const call_id = isResult ? waiting.get(kind.slice(0, -'_output'.length))?.shift() : undefined;
    return call_id === undefined ? item : { ...item, call_id };
  });
  return count > 0 ? named : items;
}
