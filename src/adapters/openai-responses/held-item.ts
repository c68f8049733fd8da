import { type Fields, isNothing, isRecord } from '../fields.ts';
import { kindOf } from './item-kinds.ts';
import type { ResponsesItem, ResponsesRequest } from './shape.ts';

/** Kinds of items that the provider does not have: they stand for what it holds in front of a request, and are never sent. */
const heldKinds = new Set(['previous_response', 'conversation']);

/** Stands for a reply and all before it. */
export function heldItem(responseId: string): ResponsesItem {
  return { type: 'previous_response', id: responseId };
}

/** Stands for what the server holds in front of the input. */
export function heldBefore({ conversation, previous_response_id: previous }: ResponsesRequest): ResponsesItem | undefined {
  if (!isNothing(conversation)) return { type: 'conversation', id: isRecord(conversation) ? conversation.id : conversation };
  return typeof previous === 'string' && previous !== '' ? heldItem(previous) : undefined;
}

export function isHeldItem(item: ResponsesItem): boolean {
  return heldKinds.has(kindOf(item));
}

/** The request with this conversation. It goes on from what the server holds only where an item stands for that. */
export function withHeldItems<R extends ResponsesRequest>(request: R, items: readonly ResponsesItem[]): R {
  const input = items.filter((item) => !isHeldItem(item));
  const rebuilt: R = { ...request, input };
  if (input.length < items.length) return rebuilt;
  // The bound names only some of the provider's fields; the copy is ours to change.
  const fields = rebuilt as Fields;
  delete fields.conversation;
  delete fields.previous_response_id;
  return rebuilt;
}
