import type { MediaPart, Message, NativePart, Part, Role, TextPart } from '../../message.ts';
import { type Fields, isNothing, isRecord, listOf, stringOf } from './fields.ts';
import { readMedia } from './read-media.ts';
import type { ChatMessage } from './shape.ts';
import { legacyCallId, readFunctionCall, readToolCall } from './tool-call.ts';

type ContentPart = TextPart | MediaPart | NativePart;

const roles: ReadonlyMap<string, Role> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['tool', 'tool'],
  ['function', 'tool'],
]);

/** Fields that are read by name. `parsed` is the SDK's own reading of the content. */
const commonFields = ['role', 'content', 'parsed'];
const ownFields: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['tool', new Set([...commonFields, 'tool_call_id'])],
  ['function', new Set([...commonFields, 'name'])],
  ['assistant', new Set([...commonFields, 'refusal', 'tool_calls', 'function_call', 'audio'])],
]);
const otherFields: ReadonlySet<string> = new Set(commonFields);

/** Markers of the prompt cache move with every step: they are no content. */
const cacheMarkers = ['prompt_cache_breakpoint', 'cache_control'];

/**
 * A message in neutral form. Fields that say nothing read like fields that are not there, so that a reply pushed back as it came is
 * the same message as one without them.
 */
export function readMessage(item: ChatMessage): Message[] {
  const message: Fields = { ...item };
  const role = item.role === 'assistant' ? 'assistant' : roles.get(item.role);
  // A role of another server is carried on, and never taken for the user's.
  if (!role)
    return [{ role: 'assistant', parts: [...readContent(item.content), ...readFields(message), native({ role: item.role })] }];
  return [{ role, parts: readParts(message, role) }];
}

function readParts(message: Fields, role: Role): Part[] {
  if (role === 'assistant') return [...readReasoning(message), ...readAssistant(message), ...readFields(message)];
  const content = readContent(message.content);
  if (role !== 'tool') return [...content, ...readFields(message)];
  const callId = message.role === 'function' ? legacyCallId(stringOf(message.name)) : stringOf(message.tool_call_id);
  return [{ type: 'toolResult', callId, content }, ...readFields(message)];
}

function readAssistant({ content, refusal, function_call, tool_calls, audio }: Fields): Part[] {
  return [
    ...readContent(content),
    ...readText(refusal),
    ...readAudio(audio),
    ...readFunctionCall(function_call),
    ...listOf(tool_calls).flatMap(readToolCall),
  ];
}

/** What compatible servers call the thinking of the model. */
function readReasoning({ reasoning_content, reasoning }: Fields): Part[] {
  return [reasoning_content, reasoning].flatMap((text): Part[] =>
    typeof text === 'string' && text !== '' ? [{ type: 'reasoning', text }] : [],
  );
}

/** Replies hold the sound itself; a request names it by its id. */
function readAudio(audio: unknown): Part[] {
  if (!isRecord(audio)) return [];
  return [...readText(audio.transcript), ...(isNothing(audio.id) ? [] : [native({ audio: { id: audio.id } })])];
}

/** Unknown fields of a message, one opaque part each, in an order that does not depend on theirs. */
function readFields(message: Fields): NativePart[] {
  const known = ownFields.get(stringOf(message.role)) ?? otherFields;
  return Object.keys(message)
    .filter((key) => !known.has(key) && !cacheMarkers.includes(key) && !isNothing(message[key]))
    .filter((key) => !isReasoningText(message, key))
    .sort()
    .map((key) => native({ [key]: message[key] }));
}

function isReasoningText(message: Fields, key: string): boolean {
  return message.role === 'assistant' && (key === 'reasoning_content' || key === 'reasoning') && typeof message[key] === 'string';
}

function readContent(content: unknown): ContentPart[] {
  if (typeof content === 'string') return readText(content);
  if (Array.isArray(content)) return content.flatMap(readContentPart);
  return isNothing(content) ? [] : [native({ content })];
}

function readContentPart(part: unknown): ContentPart[] {
  if (!isRecord(part)) return isNothing(part) ? [] : [native(part)];
  if (part.type === 'text' && typeof part.text === 'string') return readText(part.text);
  if (part.type === 'refusal' && typeof part.refusal === 'string') return readText(part.refusal);
  const plain = withoutCacheMarkers(part);
  return [readMedia(plain) ?? native(plain)];
}

function readText(text: unknown): TextPart[] {
  return typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : [];
}

function withoutCacheMarkers(part: Fields): Fields {
  if (!cacheMarkers.some((key) => key in part)) return part;
  return Object.fromEntries(Object.entries(part).filter(([key]) => !cacheMarkers.includes(key)));
}

function native(value: unknown): NativePart {
  return { type: 'native', value };
}
