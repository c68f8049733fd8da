import type { Message, NativePart, Part, ReasoningPart, TextPart, ToolCallPart } from '../message.ts';
import { type Fields, isNothing } from './fields.ts';

/** What is carried as it is. */
export function nativePart(value: unknown): NativePart {
  return { type: 'native', value };
}

/** A text, where it is one that says something. */
export function textParts(text: unknown): TextPart[] {
  return typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : [];
}

/** A thought, where there is one. */
export function reasoningParts(text: unknown): ReasoningPart[] {
  return typeof text === 'string' && text !== '' ? [{ type: 'reasoning', text }] : [];
}

/** Fields that are not read by name, one opaque part each, in an order that does not depend on theirs. */
export function fieldParts(fields: Fields, isRead: (name: string) => boolean): NativePart[] {
  return Object.keys(fields)
    .filter((name) => !isRead(name) && !isNothing(fields[name]))
    .sort()
    .map((name) => nativePart({ [name]: fields[name] }));
}

/** A message of the user that may hold results and what was said beside them: a `tool` message, then a `user` message. */
export function userMessages(results: readonly Part[], rest: readonly Part[]): Message[] {
  const messages: Message[] = [];
  if (results.length > 0) messages.push({ role: 'tool', parts: results });
  if (rest.length > 0 || results.length === 0) messages.push({ role: 'user', parts: rest });
  return messages;
}

/** The calls in messages. */
export function callsIn(messages: readonly Message[]): ToolCallPart[] {
  return messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'toolCall'));
}
