import type { MediaPart, Message, NativePart, Part, Role, TextPart, ToolResultPart } from '../../message.ts';
import { type Fields, fieldsOf, isBlank, isNothing, isRecord, listOf, stringOf, toJson } from '../fields.ts';
import { nativePart, reasoningParts, textParts } from '../neutral-parts.ts';
import { createIdReader } from './call-id.ts';
import { fieldsBeside, kindOf, purposeOf, withoutCacheMarkers } from './parts.ts';
import { readMedia } from './read-media.ts';
import type { GenkitMessage } from './shape.ts';

type ContentPart = TextPart | MediaPart | NativePart;

const roles: ReadonlyMap<string, Role> = new Map([
  ['system', 'system'],
  ['user', 'user'],
  ['model', 'assistant'],
  ['tool', 'tool'],
]);

/**
 * A message in neutral form. What a part, or the message, has beside what it says follows it as an opaque part, so that it is written
 * back with it: see `partFields` and `messageFields`.
 */
export function readMessage(item: GenkitMessage): Message[] {
  const role = roles.get(item.role) ?? 'assistant';
  const readCallId = createIdReader();
  const readResultId = createIdReader();
  const parts = partsOf(item).flatMap((part): readonly Part[] => {
    if (!isRecord(part)) return isNothing(part) ? [] : [nativePart(part)];
    const kind = kindOf(part);
    if (kind === 'toolRequest') return [readCall(part.toolRequest, readCallId), ...readBeside(part, kind)];
    if (kind === 'toolResponse') return [readResult(part.toolResponse, readResultId), ...readBeside(part, kind)];
    if (kind === 'reasoning') return [...reasoningParts(part.reasoning), ...readBeside(part, kind)];
    return readContent(part, role);
  });
  return [{ role, parts: parts.length > 0 ? [...parts, ...readMessageFields(item)] : [] }];
}

/** `ai.generate` takes a plain text in place of parts. */
export function partsOf({ content }: GenkitMessage): readonly unknown[] {
  return typeof content === 'string' ? [{ text: content }] : listOf(content).map(readLenientPart);
}

function readLenientPart(part: unknown): unknown {
  return typeof part === 'string' ? { text: part } : part;
}

function readCall(request: unknown, readId: (request: unknown) => string): Part {
  const { name, input } = fieldsOf(request);
  return { type: 'toolCall', id: readId(request), name: stringOf(name), input };
}

function readResult(response: unknown, readId: (response: unknown) => string): ToolResultPart {
  const { name, output, content } = fieldsOf(response);
  const parts = listOf(content).flatMap((part) => (isRecord(part) ? readContent(part, 'tool') : []));
  return { type: 'toolResult', callId: readId(response), name: stringOf(name), content: [...readOutput(output), ...parts] };
}

/** What is no text is read as the JSON that plugins make of it. */
function readOutput(output: unknown): ContentPart[] {
  return textParts(typeof output === 'string' ? output : toJson(output));
}

function readContent(part: Fields, role: Role): ContentPart[] {
  const kind = kindOf(part);
  if (kind === 'media') return [readMedia(part)];
  if (kind !== 'text') return [nativePart(withoutCacheMarkers(part))];
  const text = stringOf(part.text);
  const beside = fieldsBeside(part, kind);
  // Gemini signs its thoughts on empty texts, too.
  if (isBlank(text)) return beside && role !== 'user' && role !== 'system' ? [nativePart(withoutCacheMarkers(part))] : [];
  if (!beside) return [{ type: 'text', text }];
  // What Genkit put beside the words must keep its mark: it would be put there again.
  if (purposeOf(part) !== undefined) return [nativePart(withoutCacheMarkers(part))];
  return [{ type: 'text', text }, nativePart({ partFields: beside })];
}

function readBeside(part: Fields, kind: 'toolRequest' | 'toolResponse' | 'reasoning'): NativePart[] {
  const partFields = fieldsBeside(part, kind);
  return partFields ? [nativePart({ partFields })] : [];
}

function readMessageFields(item: GenkitMessage): NativePart[] {
  const { metadata } = withoutCacheMarkers({ metadata: item.metadata });
  return isNothing(metadata) ? [] : [nativePart({ messageFields: { metadata } })];
}
