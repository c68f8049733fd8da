import type { MediaPart, Message, NativePart, Part, Role, TextPart } from '../../message.ts';
import { type Fields, isNothing, isRecord, listOf, sentFields, stringOf, withoutFields } from '../fields.ts';
import { fieldParts, nativePart, reasoningParts, textParts } from '../neutral-parts.ts';
import { readArguments } from '../tool-call.ts';
import { callKey, kindOf, resultKey } from './item-kinds.ts';
import { readImageItem, readMedia } from './read-media.ts';
import type { ResponsesItem } from './shape.ts';

type ContentPart = TextPart | MediaPart | NativePart;

const roles: ReadonlyMap<unknown, Role> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
]);

/** Fields that are read by name, or that say nothing of the content: the server's own ids, and what an SDK adds. */
const commonFields = ['type', 'id', 'status', 'created_by'];
const ownFields: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['message', new Set([...commonFields, 'role', 'content'])],
  ['function_call', new Set([...commonFields, 'call_id', 'name', 'arguments', 'parsed_arguments'])],
  ['custom_tool_call', new Set([...commonFields, 'call_id', 'name', 'input'])],
  ['function_call_output', new Set([...commonFields, 'call_id', 'output'])],
  ['custom_tool_call_output', new Set([...commonFields, 'call_id', 'output'])],
]);

/** Markers of the prompt cache move with every step: they are no content. */
const cacheMarkers = ['prompt_cache_breakpoint'];

/** Instructions in another form: what stands for everything before it, and tools that are there from now on. */
const standingKinds = new Set(['compaction', 'additional_tools']);

/** True for the roles that the provider knows. */
export function isRole(role: unknown): boolean {
  return roles.has(role);
}

/**
 * An item in neutral form: always one message. What is no message and no call of the caller's own tools is carried whole. A message
 * pushed back as it came reads like one that was written without the server's ids.
 */
export function readItem(item: ResponsesItem): Message[] {
  const fields = sentFields(item);
  const kind = kindOf(item);
  switch (kind) {
    case 'message':
      return [readMessage(fields)];
    case 'reasoning':
      return [{ role: 'assistant', parts: readReasoning(fields) }];
    case 'function_call':
    case 'custom_tool_call':
      if (!callKey(item)) break;
      return [{ role: 'assistant', parts: [readCall(fields), ...readMark(kind), ...readFields(fields, kind)] }];
    case 'function_call_output':
    case 'custom_tool_call_output':
      if (!resultKey(item)) break; // B020
      return [{ role: 'tool', parts: [readResult(fields), ...readMark(kind), ...readFields(fields, kind)] }];
  }
  const parts = [readImageItem(fields) ?? nativePart(item)];
  if (standingKinds.has(kind)) return [{ role: 'system', parts }];
  return [{ role: kind.endsWith('_output') || kind === 'mcp_approval_response' ? 'tool' : 'assistant', parts }];
}

function readMessage(message: Fields): Message {
  const role = roles.get(message.role);
  const parts = [...readContent(message.content), ...readFields(message, 'message')];
  // A role of another server is carried on, and never taken for the user's.
  return role ? { role, parts } : { role: 'assistant', parts: [...parts, nativePart({ role: message.role })] };
}

/** The text, and as an opaque part what makes it valid, which is never written. */
function readReasoning({ summary, content, status: _status, ...seal }: Fields): Part[] {
  const texts = [...listOf(summary), ...listOf(content)].map((part) => (isRecord(part) ? stringOf(part.text) : ''));
  return [...texts.flatMap(reasoningParts), nativePart(seal)];
}

function readCall({ type, call_id, name, input, arguments: text }: Fields): Part {
  const read = type === 'custom_tool_call' ? stringOf(input) : readArguments(text);
  return { type: 'toolCall', id: stringOf(call_id), name: stringOf(name), input: read };
}

function readResult({ call_id, output }: Fields): Part {
  return { type: 'toolResult', callId: stringOf(call_id), content: readContent(output) };
}

/** The kind of call that is not a function. */
function readMark(kind: string): NativePart[] {
  return kind.startsWith('custom_') ? [nativePart({ type: kind })] : [];
}

function readFields(item: Fields, kind: string): NativePart[] {
  return fieldParts(item, (key) => ownFields.get(kind)?.has(key) === true);
}

function readContent(content: unknown): ContentPart[] {
  if (typeof content === 'string') return textParts(content);
  if (Array.isArray(content)) return content.flatMap(readContentPart);
  return isNothing(content) ? [] : [nativePart({ content })];
}

function readContentPart(part: unknown): ContentPart[] {
  if (!isRecord(part)) return isNothing(part) ? [] : [nativePart(part)];
  if (/^(?:input_|output_)?text$/.test(stringOf(part.type)) && typeof part.text === 'string') return textParts(part.text);
  if (part.type === 'refusal' && typeof part.refusal === 'string') return textParts(part.refusal);
  const plain = withoutFields(part, cacheMarkers);
  return [readMedia(plain) ?? nativePart(plain)];
}
