import { blocksOf, isCachePoint, isReasoning } from './blocks.ts';
import type { BedrockMessage } from './shape.ts';

/** See `ProviderAdapter.withoutReasoning`. A cache point by itself marks nothing. */
export function withoutReasoning(item: BedrockMessage): BedrockMessage | undefined {
  const blocks = blocksOf(item);
  if (!blocks.some(isReasoning)) return item;
  const kept = blocks.filter((block) => !isReasoning(block));
  const first = kept.findIndex((block) => !isCachePoint(block));
  return first === -1 ? undefined : { ...item, content: kept.slice(first) };
}
