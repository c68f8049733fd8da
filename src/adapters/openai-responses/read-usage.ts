import type { Usage } from '../adapter.ts';
import { isRecord } from '../openai-chat/fields.ts';

/**
 * `input_tokens` holds the cached tokens already (B141), and the parts count, not their total (B148). Undefined where the provider did
 * not count: missing or zero input is no measurement (B145).
 */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isRecord(usage)) return undefined;
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage;
  if (!isCount(inputTokens) || inputTokens === 0 || !isCount(outputTokens)) return undefined;
  const read: Usage = { inputTokens, outputTokens };
  const input = isRecord(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const output = isRecord(usage.output_tokens_details) ? usage.output_tokens_details : {};
  if (isShare(input.cached_tokens, inputTokens)) read.cachedInputTokens = input.cached_tokens;
  if (isShare(input.cache_write_tokens, inputTokens)) read.cacheWriteTokens = input.cache_write_tokens;
  if (isShare(output.reasoning_tokens, outputTokens)) read.reasoningTokens = output.reasoning_tokens;
  return read;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isShare(value: unknown, whole: number): value is number {
  return isCount(value) && value <= whole;
}
