import { CompactionError } from '../errors.ts';
import type { ToolCallPart } from '../message.ts';
import { type Fields, isBlank, isRecord, stringOf } from './fields.ts';

/** Deeper arguments stay text: whatever walks through them would have to be safe against any depth. */
const deepestArguments = 100;

/** A call in the form of OpenAI, which many others speak too; none where it is no call. */
export function readToolCall(call: unknown): ToolCallPart[] {
  if (!isRecord(call)) return [];
  const id = stringOf(call.id);
  if (isRecord(call.custom))
    return [{ type: 'toolCall', id, name: stringOf(call.custom.name), input: stringOf(call.custom.input) }];
  if (!isRecord(call.function)) return [];
  return [{ type: 'toolCall', id, name: stringOf(call.function.name), input: readArguments(call.function.arguments) }];
}

/**
 * Parsed arguments, or the text where it is no JSON. JSON that is only a text stays as it is, quotes included, so that writing gives
 * the same arguments again. Some servers send an object in place of JSON.
 */
export function readArguments(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? '';
  const parsed = nesting(value) > deepestArguments ? undefined : parse(value);
  return parsed === undefined || typeof parsed === 'string' ? value : parsed;
}

/** The inverse of `readArguments`. A call without arguments gets an empty object: servers parse what they are sent. */
export function writeArguments(input: unknown, provider: string): string {
  if (typeof input === 'string') return isBlank(input) ? '{}' : input.toWellFormed();
  try {
    return JSON.stringify(input ?? {}) ?? '{}';
  } catch (cause) {
    throw new CompactionError('invalid-request', 'Expected the input of a tool call to be JSON.', { cause, provider });
  }
}

/** A call with an empty object in place of empty arguments. Broken JSON stays: nobody knows what it was to be. */
export function repairArguments(call: Fields): Fields {
  const { arguments: text } = call;
  const empty = text === null || text === undefined || (typeof text === 'string' && isBlank(text));
  return empty ? { ...call, arguments: '{}' } : call;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) ?? null;
  } catch {
    return undefined;
  }
}

/** At least the depth of a JSON text; more where its strings hold brackets. */
function nesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index) | 0x20; // `[` as `{`, `]` as `}`
    if (unit === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (unit === 0x7d) depth--;
  }
  return deepest;
}

/** For providers that take an object as the input of a call, nothing else. */
export function objectInput(input: unknown): Fields {
  return isRecord(input) ? input : input === undefined ? {} : { value: input };
}
