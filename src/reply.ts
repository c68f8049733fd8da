import type { FinishReason, ProviderAdapter, ReplySummary } from './adapters/adapter.ts';
import { makeWellFormed } from './history/well-formed.ts';
import type { Message, ToolCallPart } from './message.ts';

/** A reply as it may enter a history, and what had to be left out. */
export interface NormalizedReply<Item> {
  items: readonly Item[];
  /** Calls that may be run. */
  calls: readonly ToolCallPart[];
  repairs: readonly string[];
}

/**
 * Takes from a reply what may be stored and sent again. A reply without a natural end keeps its text and loses its calls: they were
 * never asked for in full. B058, B184
 */
export function normalizeReply<Request, Item, Reply>(
  adapter: ProviderAdapter<Request, Item, Reply>,
  reply: ReplySummary<Item>,
): NormalizedReply<Item> {
  const repairs: string[] = [];
  const runnable = mayRun(reply.finish) ? reply.calls : [];
  let items = reply.items;
  if (runnable.length < reply.calls.length) {
    repairs.push('Tool calls of a reply that did not end normally were left out.');
    const kept = new Set(runnable.map((call) => call.id));
    items = items.flatMap((item) => adapter.readItem(item)).flatMap((message) => adapter.writeMessage(withCalls(message, kept)));
  }
  const sound = items.flatMap((item) => {
    const repaired = adapter.repairItem(makeWellFormed(item));
    return repaired === undefined ? [] : [repaired];
  });
  if (sound.length !== items.length || sound.some((item, index) => item !== items[index]))
    repairs.push('Parts that the provider refuses were left out.');
  return { items: sound, calls: runnable, repairs };
}

/** Only a natural end vouches for the calls: after a cut their arguments may be anything, also nothing. */
function mayRun(finish: FinishReason): boolean {
  return finish === 'stop' || finish === 'tool-calls' || finish === 'pause';
}

function withCalls(message: Message, kept: ReadonlySet<string>): Message {
  return { ...message, parts: message.parts.filter((part) => part.type !== 'toolCall' || kept.has(part.id)) };
}
