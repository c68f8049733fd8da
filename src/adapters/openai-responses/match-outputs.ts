import { kindOf } from './item-kinds.ts';
import type { ResponsesItem } from './shape.ts';

/**
 * The items with each result in the form that its call asks for: a neutral result does not tell the two kinds apart, the provider
 * does. Items that need nothing are the very same objects.
 */
export function matchOutputs(items: readonly ResponsesItem[]): ResponsesItem[] {
  const custom = new Map<unknown, boolean>();
  return items.map((item) => {
    const kind = kindOf(item);
    if (kind === 'custom_tool_call' || (kind === 'function_call' && custom.has(item.call_id)))
      custom.set(item.call_id, kind === 'custom_tool_call');
    return kind === 'function_call_output' && custom.get(item.call_id) ? { ...item, type: 'custom_tool_call_output' } : item;
  });
}
