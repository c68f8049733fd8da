import { isThinking } from './blocks.ts';
import type { AnthropicMessage } from './shape.ts';

/** See `ProviderAdapter.withoutReasoning`. All of a message's thinking goes: the provider refuses it where some is left out. */
export function withoutReasoning(item: AnthropicMessage): AnthropicMessage | undefined {
  const { content } = item;
  if (item.role !== 'assistant' || !Array.isArray(content) || !content.some(isThinking)) return item;
  const kept = content.filter((block) => !isThinking(block));
  return kept.length > 0 ? { ...item, content: kept } : undefined;
}
