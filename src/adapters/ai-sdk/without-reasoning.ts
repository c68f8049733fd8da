import { isRecord } from '../fields.ts';
import { isClientCall, isPart, type Part, partsOf } from './parts.ts';
import { optionOf, withoutOptions } from './provider-options.ts';
import type { AiSdkMessage, AiSdkPart } from './shape.ts';

/**
 * See `ProviderAdapter.withoutReasoning`. OpenAI knows a part by its id, and wants the reasoning that led to it: the part right behind
 * reasoning stays without the id. What the provider ran itself goes, with its result. B021
 */
export function withoutReasoning(item: AiSdkMessage): AiSdkMessage | undefined {
  const parts = partsOf(item);
  if (item.role !== 'assistant' || !parts.some(isReasoning)) return item;
  const gone = new Set<unknown>();
  const kept = parts.flatMap((part, index): AiSdkPart[] => {
    if (isReasoning(part)) return [];
    if (!isReasoning(parts[index - 1]) || !isPart(part) || optionOf(part.providerOptions, 'itemId') === undefined) return [part];
    if (part.type !== 'tool-call' || isClientCall(part)) return [withoutItemId(part)];
    gone.add(part.toolCallId);
    return [];
  });
  const content = kept.filter((part) => part.type !== 'tool-result' || !gone.has(part.toolCallId));
  return content.length > 0 ? { ...item, content } : undefined;
}

function isReasoning(part: unknown): boolean {
  return isRecord(part) && part.type === 'reasoning';
}

function withoutItemId(part: Part): AiSdkPart {
  const { providerOptions, ...rest } = part;
  const options = withoutOptions(providerOptions, (key) => key === 'itemId');
  return options ? { ...rest, providerOptions: options } : rest;
}
