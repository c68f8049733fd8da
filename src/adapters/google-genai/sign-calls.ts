import { isRecord, listOf, stringOf } from '../fields.ts';
import { fieldOf } from './field-names.ts';
import { callsIn, isModel, responseIn } from './function-parts.ts';
import type { GeminiContent, GeminiPart, GeminiRequest } from './shape.ts';

/** The vendor's own value for a call that the model did not make. */
const unsigned = 'skip_thought_signature_validator';

/** Gemini 3 and later refuse a call of the current turn without its signature. Older models have no need of one. */
const demanding = /(?:^|\/)gemini-(?:[3-9]|\d\d)/;

/**
 * The contents with a signature on each first call of a content that has none, where the model demands it: only in the current turn, which
 * begins with the user's newest words, and not on calls made beside it. What the request held already stays as it is.
 */
export function signCalls(
  contents: readonly GeminiContent[],
  known: ReadonlySet<GeminiContent>,
  { model }: GeminiRequest,
): readonly GeminiContent[] {
  if (!demanding.test(stringOf(model))) return contents;
  const start = contents.findLastIndex((content) => !isModel(content) && listOf(content.parts).some((part) => !responseIn(part)));
  return contents.map((content, index) => {
    const before = contents[index - 1];
    const isFirst = index > start && !(before && isModel(before));
    return isFirst && !known.has(content) ? signFirstCall(content) : content;
  });
}

function signFirstCall(content: GeminiContent): GeminiContent {
  const [call] = callsIn(content).keys();
  if (!isRecord(call) || fieldOf(call, 'thoughtSignature')) return content;
  const sign = (part: GeminiPart): GeminiPart => (part === call ? { ...part, thoughtSignature: unsigned } : part);
  return { ...content, parts: (content.parts ?? []).map(sign) };
}
