import { isRecord } from '../fields.ts';
import { isRedactedThinking, kindOf } from './parts.ts';
import { plainMessage, says } from './repair-message.ts';
import type { GenkitMessage } from './shape.ts';

/** See `ProviderAdapter.withoutReasoning`. Signatures of calls stay: Gemini demands them. */
export function withoutReasoning(item: GenkitMessage): GenkitMessage | undefined {
  const content: unknown = item.content;
  if (!Array.isArray(content) || !content.some(isReasoning)) return item;
  const kept: object[] = content.filter((part) => !isReasoning(part));
  return kept.some(says) ? { ...plainMessage(item), content: kept } : undefined;
}

function isReasoning(part: unknown): boolean {
  return isRecord(part) && (kindOf(part) === 'reasoning' || (kindOf(part) === undefined && isRedactedThinking(part)));
}
