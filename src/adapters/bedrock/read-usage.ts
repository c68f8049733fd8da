import type { Usage } from '../adapter.ts';
import { isRecord } from '../fields.ts';
import { summedUsage } from '../usage.ts';

/** Usage of a request. */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isRecord(usage)) return undefined;
  const { inputTokens: input, outputTokens: output, cacheReadInputTokens: cacheRead, cacheWriteInputTokens: cacheWrite } = usage;
  return summedUsage({ input, output, cacheRead, cacheWrite });
}
