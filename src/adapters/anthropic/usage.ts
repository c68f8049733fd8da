import type { Usage } from '../adapter.ts';
import { type Fields, isRecord } from './blocks.ts';

/**
 * Usage of a request: `input_tokens` is only what the cache did not have. Undefined where a number is missing or impossible.
 */
export function readUsage(usage: unknown): Usage | undefined {
  const counts = isRecord(usage) ? lastSampling(usage) : undefined;
  if (!counts) return undefined;
  const uncached = readCount(counts.input_tokens);
  const read = readCount(counts.cache_read_input_tokens ?? 0);
  const written = readCount(counts.cache_creation_input_tokens ?? 0);
  const outputTokens = readCount(counts.output_tokens);
  if (uncached === undefined || read === undefined || written === undefined || outputTokens === undefined) return undefined;
  const inputTokens = uncached + read + written;
  if (inputTokens === 0) return undefined;
  const details = isRecord(counts.output_tokens_details) ? counts.output_tokens_details : {};
  const reasoningTokens = readCount(details.thinking_tokens);
  return {
    inputTokens,
    outputTokens,
    ...(read > 0 && { cachedInputTokens: read }),
    ...(written > 0 && { cacheWriteTokens: written }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  };
}

/** With several samplings in one reply only the last tells the size of the context; a compaction's own numbers never do. */
function lastSampling(usage: Fields): Fields | undefined {
  const { iterations } = usage;
  if (!Array.isArray(iterations) || iterations.length === 0) return usage;
  return iterations.filter(isRecord).findLast(({ type }) => type === 'message' || type === 'fallback_message');
}

function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
