import type { Usage } from '../adapter.ts';
import { fieldsOf, isRecord } from '../fields.ts';
import { wholeUsage } from '../usage.ts';

/** Usage of a request. Whatever else a server adds (B142), and the total (B148), are not read. */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isRecord(usage)) return undefined;
  const input = fieldsOf(usage.prompt_tokens_details);
  const output = fieldsOf(usage.completion_tokens_details);
  return wholeUsage({
    input: usage.prompt_tokens,
    output: usage.completion_tokens,
    cacheRead: input.cached_tokens,
    cacheWrite: input.cache_write_tokens,
    reasoning: output.reasoning_tokens,
  });
}
