import type { MediaPart, NativePart, TextPart, ToolResultPart } from '../../message.ts';
import { type Fields, isNothing, isRecord, stringOf, toJson } from '../fields.ts';
import { textParts } from '../neutral-parts.ts';
import { readMedia } from './read-media.ts';

type Content = ToolResultPart['content'];

/** What providers are told where the user did not say why. */
const denied = 'Tool call execution denied.';

/** What a tool returned. Values that are no text are what providers get: their JSON. */
export function readOutput(output: unknown): { content: Content; isError: boolean } {
  if (!isRecord(output)) return { content: isNothing(output) ? [] : [{ type: 'native', value: output }], isError: false };
  const { type, value } = output;
  const isError = type === 'error-text' || type === 'error-json' || type === 'execution-denied';
  return { content: readValue(stringOf(type), value, output), isError };
}

function readValue(type: string, value: unknown, output: Fields): Content {
  switch (type) {
    case 'text':
    case 'error-text':
      return textParts(value);
    case 'json':
    case 'error-json':
      return textParts(toJson(value));
    case 'execution-denied':
      return textParts(stringOf(output.reason) || denied);
    case 'content':
      return Array.isArray(value) ? value.flatMap(readContent) : [];
    default:
      return [{ type: 'native', value: output }];
  }
}

function readContent(part: unknown): (TextPart | MediaPart | NativePart)[] {
  if (!isRecord(part)) return isNothing(part) ? [] : [{ type: 'native', value: part }];
  if (part.type === 'text' && typeof part.text === 'string') return textParts(part.text);
  return [readMedia(part) ?? { type: 'native', value: part }];
}
