import type { Usage } from '../adapter.ts';
import { readAnthropicUsage } from '../anthropic-usage.ts';
import { fieldsOf, isRecord } from '../fields.ts';
import { readCount } from '../usage.ts';

/** Usage of a request. Undefined where the provider did not count: a missing or zero input is no measurement (B145). */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isRecord(usage)) return undefined;
  // With several samplings in one reply the SDK adds them up; only the last tells the size of the context.
  if (isRecord(usage.raw) && Array.isArray(usage.raw.iterations)) return readAnthropicUsage(usage.raw);
  const input = fieldsOf(usage.inputTokens);
  const output = fieldsOf(usage.outputTokens);
  const inputTokens = readCount(input.total);
  if (!inputTokens) return undefined;
  const read: Usage = { inputTokens, outputTokens: readCount(output.total) ?? 0 };
  const { cacheRead, cacheWrite } = input;
  if (isShare(cacheRead, read.inputTokens)) read.cachedInputTokens = cacheRead;
  if (isShare(cacheWrite, read.inputTokens)) read.cacheWriteTokens = cacheWrite;
  if (isShare(output.reasoning, read.outputTokens)) read.reasoningTokens = output.reasoning;
  return read;
}

function isShare(value: unknown, whole: number): value is number {
  const count = readCount(value);
  return count !== undefined && count > 0 && count <= whole;
}
