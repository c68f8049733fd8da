import type { Usage } from '../adapter.ts';
import { fieldsOf, isRecord } from '../fields.ts';
import { readCount } from '../usage.ts';

/**
 * `input_tokens` is the whole input, cached tokens included. Older packages for Anthropic count only what the cache did not have: then
 * the parts are larger than the whole. Undefined where a number is missing: an input of none is no measurement (B145).
 */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isRecord(usage)) return undefined;
  const input = readCount(usage.input_tokens);
  const outputTokens = readCount(usage.output_tokens);
  if (input === undefined || outputTokens === undefined) return undefined;
  const cached = countIn(usage.input_token_details, 'cache_read');
  const written = countIn(usage.input_token_details, 'cache_creation');
  const inputTokens = cached + written > input ? input + cached + written : input;
  if (inputTokens === 0) return undefined;
  const reasoning = countIn(usage.output_token_details, 'reasoning');
  return {
    inputTokens,
    outputTokens,
    ...(cached > 0 && { cachedInputTokens: cached }),
    ...(written > 0 && { cacheWriteTokens: written }),
    ...(reasoning > 0 && reasoning <= outputTokens && { reasoningTokens: reasoning }),
  };
}

function countIn(details: unknown, key: string): number {
  const fields = fieldsOf(details);
  return readCount(fields[key]) ?? 0;
}
