import type { MediaPart, Message, NativePart, Part, Role, TextPart } from '../../message.ts';
import { type Fields, isNothing, isRecord, listOf, sentFields, stringOf, withoutFields } from '../fields.ts';
import { fieldParts, nativePart, reasoningParts, textParts } from '../neutral-parts.ts';
import { readToolCall } from '../tool-call.ts';
import { legacyCallId, readFunctionCall } from './function-call.ts';
import { readMedia } from './read-media.ts';
import type { ChatMessage } from './shape.ts';

type ContentPart = TextPart | MediaPart | NativePart;

/** The provider's roles, as the neutral ones. */
export const chatRoles: ReadonlyMap<string, Role> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
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
  const message = sentFields(item);
  const role = chatRoles.get(item.role);
  // A role of another server is carried on, and never taken for the user's.
  if (!role)
    return [
      { role: 'assistant', parts: [...readContent(item.content), ...readFields(message), nativePart({ role: item.role })] },
    ];
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
    ...textParts(refusal),
    ...readAudio(audio),
    ...readFunctionCall(function_call),
    ...listOf(tool_calls).flatMap(readToolCall),
  ];
}

/** What compatible servers call the thinking of the model. */
function readReasoning({ reasoning_content, reasoning }: Fields): Part[] {
  return [reasoning_content, reasoning].flatMap(reasoningParts);
}

/** Replies hold the sound itself; a request names it by its id. */
function readAudio(audio: unknown): Part[] {
  if (!isRecord(audio)) return [];
  return [...textParts(audio.transcript), ...(isNothing(audio.id) ? [] : [nativePart({ audio: { id: audio.id } })])];
}

/** Fields of a message that are not read by name. */
function readFields(message: Fields): NativePart[] {
  const known = ownFields.get(stringOf(message.role)) ?? otherFields;
  return fieldParts(message, (key) => known.has(key) || cacheMarkers.includes(key) || isReasoningText(message, key));
}

function isReasoningText(message: Fields, key: string): boolean {
  return message.role === 'assistant' && (key === 'reasoning_content' || key === 'reasoning') && typeof message[key] === 'string';
}

function readContent(content: unknown): ContentPart[] {
  if (typeof content === 'string') return textParts(content);
  if (Array.isArray(content)) return content.flatMap(readContentPart);
  return isNothing(content) ? [] : [nativePart({ content })];
}

function readContentPart(part: unknown): ContentPart[] {
  if (!isRecord(part)) return isNothing(part) ? [] : [nativePart(part)];
  if (part.type === 'text' && typeof part.text === 'string') return textParts(part.text);
  if (part.type === 'refusal' && typeof part.refusal === 'string') return textParts(part.refusal);
  const plain = withoutFields(part, cacheMarkers);
  return [readMedia(plain) ?? nativePart(plain)];
}
