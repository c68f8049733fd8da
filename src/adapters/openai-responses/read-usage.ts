import type { Usage } from '../adapter.ts';
import { type Fields, fieldsOf, isRecord } from '../fields.ts';
import { wholeUsage } from '../usage.ts';

/** Usage of a reply, and the id under which the server holds it. Whatever else a server adds, and the total, are not read (B142, B148). */
export function readUsage({ usage, id, store }: Fields): Usage | undefined {
  if (!isRecord(usage)) return undefined;
  const input = fieldsOf(usage.input_tokens_details);
  const output = fieldsOf(usage.output_tokens_details);
  const read = wholeUsage({
    input: usage.input_tokens,
    output: usage.output_tokens,
    cacheRead: input.cached_tokens,
    cacheWrite: input.cache_write_tokens,
    reasoning: output.reasoning_tokens,
  });
  if (read && typeof id === 'string' && id !== '' && store !== false) read.responseId = id;
  return read;
}
