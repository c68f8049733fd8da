import { type Fields, isNothing, isRecord } from '../fields.ts';

/** The fields by which a part is told from others. No call hides behind another field. */
const kinds = ['toolRequest', 'toolResponse', 'media', 'text', 'reasoning'] as const;

export type PartKind = (typeof kinds)[number];

/** Undefined for `data`, `custom`, `resource` and whatever else there may be. */
export function kindOf(part: Fields): PartKind | undefined {
  return kinds.find((kind) => (kind === 'text' || kind === 'reasoning' ? typeof part[kind] === 'string' : isRecord(part[kind])));
}

/**
 * Markers of the prompt cache move with every step: they are no content. The plugin for Anthropic marks parts, the one for Google
 * messages.
 */
const cacheMarkers = ['cache_control', 'cache'];

/** The value without cache markers in its metadata: the very same object where it has none. */
export function withoutCacheMarkers(value: Fields): Fields {
  const { metadata, ...rest } = value;
  if (!isRecord(metadata) || !cacheMarkers.some((key) => key in metadata)) return value;
  const kept = Object.entries(metadata).filter(([key]) => !cacheMarkers.includes(key));
  return kept.length === 0 ? rest : { ...rest, metadata: Object.fromEntries(kept) };
}

/** What a part says beside its main field; undefined where that is nothing. */
export function fieldsBeside(part: Fields, kind: PartKind): Fields | undefined {
  const beside = Object.entries(withoutCacheMarkers(part)).filter(([key, value]) => key !== kind && !isNothing(value));
  return beside.length > 0 ? Object.fromEntries(beside) : undefined;
}

/** What Genkit put beside the words of a message: the text of documents, the instructions for an output format. */
export function purposeOf(part: unknown): unknown {
  return isRecord(part) && isRecord(part.metadata) ? part.metadata.purpose : undefined;
}

/** Thoughts that only their maker can read. */
export function isRedactedThinking(part: unknown): boolean {
  return isRecord(part) && isRecord(part.custom) && 'redactedThinking' in part.custom;
}
