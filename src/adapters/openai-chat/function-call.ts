import type { ToolCallPart } from '../../message.ts';
import { isRecord, stringOf } from '../fields.ts';
import { readArguments } from '../tool-call.ts';

/**
 * A legacy `function_call` has no id: this stands for one, so that the call and its `function` message are a pair in the neutral form
 * and are written back in the legacy form.
 */
const legacyPrefix = 'function_call:';

export function legacyCallId(name: string): string {
  return legacyPrefix + name;
}

/** The name of a legacy function, from the id of its call; undefined for the id of any other call. */
export function legacyName(id: string): string | undefined {
  return id.startsWith(legacyPrefix) ? id.slice(legacyPrefix.length) : undefined;
}

export function readFunctionCall(call: unknown): ToolCallPart[] {
  if (!isRecord(call)) return [];
  const name = stringOf(call.name);
  return [{ type: 'toolCall', id: legacyCallId(name), name, input: readArguments(call.arguments) }];
}
