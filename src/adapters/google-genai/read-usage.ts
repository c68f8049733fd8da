import type { Usage } from '../adapter.ts';
import { isRecord } from '../fields.ts';
import { readCount } from '../usage.ts';

/**
 * Usage of one request: `promptTokenCount` holds the cached tokens already (B141). Undefined where the provider did not count: a missing or
 * zero prompt is no measurement (B145). Where the SDK continued a long reply in further requests it adds them up, and keeps the first
 * prompt.
 */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isRecord(usage)) return undefined;
  const prompt = readCount(usage.initialPromptTokenCount ?? usage.promptTokenCount);
  const toolUse = readCount(usage.toolUsePromptTokenCount ?? 0);
  const candidates = readCount(usage.candidatesTokenCount ?? 0);
  const thoughts = readCount(usage.thoughtsTokenCount ?? 0);
  if (!prompt || toolUse === undefined || candidates === undefined || thoughts === undefined) return undefined;
  const inputTokens = prompt + toolUse;
  const cached = readCount(usage.cachedContentTokenCount);
  return {
    inputTokens,
    outputTokens: candidates + thoughts,
    ...(cached !== undefined && cached > 0 && cached <= inputTokens && { cachedInputTokens: cached }),
    ...(thoughts > 0 && { reasoningTokens: thoughts }),
  };
}
