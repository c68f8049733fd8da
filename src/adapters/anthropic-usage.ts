import type { Usage } from './adapter.ts';
import { type Fields, fieldsOf, isRecord } from './fields.ts';
import { summedUsage } from './usage.ts';

/** Usage of a request in the words of Anthropic, which others pass on. */
export function readAnthropicUsage(usage: unknown): Usage | undefined {
  const counts = isRecord(usage) ? lastSampling(usage) : undefined;
  return (
    counts &&
    summedUsage({
      input: counts.input_tokens,
      output: counts.output_tokens,
      cacheRead: counts.cache_read_input_tokens,
      cacheWrite: counts.cache_creation_input_tokens,
      reasoning: fieldsOf(counts.output_tokens_details).thinking_tokens,
    })
  );
}

/** With several samplings in one reply only the last tells the size of the context; a compaction's own numbers never do. */
function lastSampling(usage: Fields): Fields | undefined {
  const { iterations } = usage;
  if (!Array.isArray(iterations) || iterations.length === 0) return usage;
  return iterations.filter(isRecord).findLast(({ type }) => type === 'message' || type === 'fallback_message');
}
