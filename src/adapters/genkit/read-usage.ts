import type { Usage } from '../adapter.ts';
import { type Fields, fieldsOf, isRecord } from '../fields.ts';
import { readCount } from '../usage.ts';

/**
 * What a plugin reports. That for Anthropic counts only what the cache did not have, and tells the rest beside it; the others count all
 * of the input. Undefined where a number is missing or impossible: a prompt of none is no measurement (B145).
 */
export function readUsage(reply: unknown): Usage | undefined {
  const { usage, raw, custom } = fieldsOf(reply);
  if (!isRecord(usage)) return undefined;
  const input = readCount(usage.inputTokens);
  const output = readCount(usage.outputTokens ?? 0);
  const beside = [usage.custom, usageIn(raw), usageIn(custom)].filter(isRecord);
  const { cache_read_input_tokens, cache_creation_input_tokens }: Fields = beside.find((report) => adds(report, input)) ?? {};
  const read = readCount(cache_read_input_tokens ?? 0);
  const written = readCount(cache_creation_input_tokens ?? 0);
  if (input === undefined || output === undefined || read === undefined || written === undefined) return undefined;
  const inputTokens = input + read + written;
  if (inputTokens === 0) return undefined;
  const cached = readCount(usage.cachedContentTokens) ?? (read || readCachedPart(beside));
  const thoughts = readCount(usage.thoughtsTokens) ?? 0;
  return {
    inputTokens,
    outputTokens: output + thoughtsBeside(usage, input, output, thoughts),
    ...(cached > 0 && cached <= inputTokens && { cachedInputTokens: cached }),
    ...(written > 0 && { cacheWriteTokens: written }),
    ...(thoughts > 0 && { reasoningTokens: thoughts }),
  };
}

/** The provider's own report, in its own reply. */
function usageIn(reply: unknown): unknown {
  return isRecord(reply) ? reply.usage : undefined;
}

/** In the words of Anthropic: what the cache had, and was given, is no part of this input. */
function adds(report: Fields, input: number | undefined): boolean {
  const hasCache = 'cache_read_input_tokens' in report || 'cache_creation_input_tokens' in report;
  return hasCache && (report.input_tokens ?? input) === input;
}

/** In the words of OpenAI, whose plugin does not pass it on: a part of the input. */
function readCachedPart(reports: readonly Fields[]): number {
  const details = reports.map(({ prompt_tokens_details }) => prompt_tokens_details).find(isRecord);
  return readCount(details?.cached_tokens) ?? 0;
}

/** Gemini counts its thoughts beside the output, others in it: the total tells. */
function thoughtsBeside({ totalTokens }: Fields, input: number, output: number, thoughts: number): number {
  return totalTokens === input + output + thoughts || thoughts > output ? thoughts : 0;
}
