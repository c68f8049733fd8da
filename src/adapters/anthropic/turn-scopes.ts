import { dropCleared } from '../drop-cleared.ts';
import { listOf } from '../fields.ts';
import type { AnthropicMessage, AnthropicRequest } from './shape.ts';

const beta = 'mid-conversation-system-clear-at';

/**
 * The items of a rebuilt request with `clear_at` as its route takes it. A message of the system that has it is shown until the next message
 * of the user, and stays in the list after. Where it was hidden already it goes with what hid it; where the route does not know the marker,
 * the text stays without it. V33
 */
export function keepTurnScopes(items: readonly AnthropicMessage[], request: AnthropicRequest): readonly AnthropicMessage[] {
  if (!items.some(hasMarker)) return items;
  if (!takesMarkers(request)) return items.map(withoutMarker);
  return dropCleared(items, request.messages ?? [], { isPassing, endsTurn: ({ role }) => role === 'user' });
}

/** What the request says; where its betas are in a header, as with `fetch`, what its own messages say: they would be refused otherwise. */
function takesMarkers({ betas, messages }: AnthropicRequest): boolean {
  if (Array.isArray(betas)) return listOf(betas).some((name) => typeof name === 'string' && name.startsWith(beta));
  return (messages ?? []).some(hasMarker);
}

function isPassing(item: AnthropicMessage): boolean {
  return hasMarker(item) && item.clear_at === 'next_user_message';
}

function hasMarker(item: AnthropicMessage): item is AnthropicMessage & { clear_at: unknown } {
  return item.role === 'system' && 'clear_at' in item;
}

function withoutMarker(item: AnthropicMessage): AnthropicMessage {
  if (!hasMarker(item)) return item;
  const { clear_at: _marker, ...rest } = item;
  return rest;
}
