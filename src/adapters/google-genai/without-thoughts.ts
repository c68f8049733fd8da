import { isNothing, isRecord } from '../fields.ts';
import { sdkName } from './field-names.ts';
import { callIn, responseIn } from './function-parts.ts';
import type { GeminiContent } from './shape.ts';

/**
 * See `ProviderAdapter.withoutReasoning`. Signatures are not bound to what stood before, and those of calls in the current turn are
 * demanded: they stay, but for those that sign thoughts alone.
 */
export function withoutThoughts(content: GeminiContent): GeminiContent | undefined {
  const { parts } = content;
  if (!parts?.some(isThought)) return content;
  const kept = parts.filter((part) => !isThought(part));
  return kept.some(saysSomething) ? { ...content, parts: kept } : undefined;
}

function isThought(part: unknown): boolean {
  return isRecord(part) && part.thought === true && !callIn(part) && !responseIn(part);
}

function saysSomething(part: object): boolean {
  return Object.entries(part).some(
    ([key, value]) => sdkName(key) !== 'thoughtSignature' && key !== 'thought' && !isNothing(value),
  );
}
