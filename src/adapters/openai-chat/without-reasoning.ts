import { isNothing, isRecord, sentFields, withoutFields } from '../fields.ts';
import { says } from './repair-message.ts';
import type { ChatMessage, WrittenMessage } from './shape.ts';

/** Where compatible servers and gateways have the thinking of the model, as text, as parts, or as ciphertext. */
const reasoningFields = [
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'reasoning_text',
  'reasoning_opaque',
  'reasoning_items',
  'thinking',
  'thinking_blocks',
];

const reasoningParts: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking', 'reasoning']);

/** See `ProviderAdapter.withoutReasoning`. Signatures of calls stay: the servers that have them demand them. */
export function withoutReasoning(item: ChatMessage): ChatMessage | undefined {
  if (item.role !== 'assistant') return item;
  const message = sentFields(item);
  const found = reasoningFields.filter((name) => !isNothing(message[name]));
  const { content } = message;
  const thinks = Array.isArray(content) && content.some(isReasoningPart);
  if (found.length === 0 && !thinks) return item;
  const kept: WrittenMessage = { ...withoutFields(message, found), role: item.role };
  if (thinks) {
    const rest = content.filter((part) => !isReasoningPart(part));
    kept.content = rest.length > 0 ? rest : null;
  }
  return says(kept) ? kept : undefined;
}

function isReasoningPart(part: unknown): boolean {
  return isRecord(part) && reasoningParts.has(part.type);
}
