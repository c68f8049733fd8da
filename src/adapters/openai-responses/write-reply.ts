import { isNothing } from '../fields.ts';
import type { ReplyEntry } from './assemble-reply.ts';
import { isOwnCall, isReasoning, kindOf } from './item-kinds.ts';
import { withoutAddedFields, withoutServerId } from './repair-item.ts';
import type { ResponsesItem } from './shape.ts';

/**
 * A reply as items of the next request. Reasoning goes with the item that it led to. Of what was cut off, the text stays without the
 * server's id, which the server may not know: B184. Calls that were cut stay as they came: whoever appends the reply has to leave them
 * out, and to say so.
 */
export function writeReply(
  entries: readonly ReplyEntry[],
  { natural, hasCalls }: { natural: boolean; hasCalls: boolean },
): ResponsesItem[] {
  // Where calls are about to be left out, nothing may be tied to them.
  const loose = !natural && hasCalls;
  const items: ResponsesItem[] = [];
  let reasoning: ResponsesItem[] = [];
  let hasThought = false;
  for (const { item, done } of entries) {
    if (isReasoning(item)) {
      hasThought = true;
      if (done && !loose) reasoning.push(item);
      continue;
    }
    if (done && !loose) {
      for (const thought of reasoning) items.push(thought);
      items.push(withoutAddedFields(item));
    } else if (isOwnCall(item) || (kindOf(item) === 'message' && !isNothing(item.content)))
      items.push(withoutServerId(withoutAddedFields(item)));
    else if (done && !hasThought) items.push(item);
    reasoning = [];
  }
  return items;
}
