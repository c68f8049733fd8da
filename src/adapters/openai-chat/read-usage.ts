import type { Usage } from '../adapter.ts';
import { isRecord } from './fields.ts';

/**
 * `prompt_tokens` holds the cached tokens already (B141), whatever else a server adds beside it (B142), and the parts count, not their
 * total (B148). Undefined where the provider did not count: a missing or zero prompt is no measurement (B145).
 */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isRecord(usage)) return undefined;
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  if (!isCount(prompt) || prompt === 0 || !isCount(completion)) return undefined;
  const read: Usage = { inputTokens: prompt, outputTokens: completion };
  const input = isRecord(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const output = isRecord(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  if (isShare(input.cached_tokens, read.inputTokens)) read.cachedInputTokens = input.cached_tokens;
  if (isShare(input.cache_write_tokens, read.inputTokens)) read.cacheWriteTokens = input.cache_write_tokens;
  if (isShare(output.reasoning_tokens, read.outputTokens)) read.reasoningTokens = output.reasoning_tokens;
  return read;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isShare(value: unknown, whole: number): value is number {
  return isCount(value) && value <= whole;
}
