import type { Usage } from './adapter.ts';

/** Counts as a reply tells them, whatever they are. Absent: the provider does not count that. */
export interface ReportedCounts {
  input: unknown;
  output: unknown;
  cacheRead?: unknown;
  cacheWrite?: unknown;
  reasoning?: unknown;
}

/** A number of tokens; undefined for what is none. */
export function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/**
 * Usage where the input holds the cached tokens already (B141): parts that are larger than their whole are left out. Undefined where the
 * provider did not count: a missing or zero input is no measurement (B145).
 */
export function wholeUsage({ input, output, cacheRead, cacheWrite, reasoning }: ReportedCounts): Usage | undefined {
  const inputTokens = readCount(input);
  const outputTokens = readCount(output);
  if (!inputTokens || outputTokens === undefined) return undefined;
  const usage: Usage = { inputTokens, outputTokens };
  if (isShare(cacheRead, inputTokens)) usage.cachedInputTokens = cacheRead;
  if (isShare(cacheWrite, inputTokens)) usage.cacheWriteTokens = cacheWrite;
  if (isShare(reasoning, outputTokens)) usage.reasoningTokens = reasoning;
  return usage;
}

/** Usage where the input is only what the cache did not have. Undefined where a number is missing or impossible. */
export function summedUsage({ input, output, cacheRead, cacheWrite, reasoning }: ReportedCounts): Usage | undefined {
  const uncached = readCount(input);
  const read = readCount(cacheRead ?? 0);
  const written = readCount(cacheWrite ?? 0);
  const outputTokens = readCount(output);
  if (uncached === undefined || read === undefined || written === undefined || outputTokens === undefined) return undefined;
  const inputTokens = uncached + read + written;
  if (inputTokens === 0) return undefined;
  const reasoningTokens = readCount(reasoning);
  return {
    inputTokens,
    outputTokens,
    ...(read > 0 && { cachedInputTokens: read }),
    ...(written > 0 && { cacheWriteTokens: written }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  };
}

function isShare(value: unknown, whole: number): value is number {
  const count = readCount(value);
  return count !== undefined && count <= whole;
}
