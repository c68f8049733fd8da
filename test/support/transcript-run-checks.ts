import { isDeepStrictEqual } from 'node:util';
import type { Message } from '../../src/message.ts';
import { readReplacement } from '../../src/prompt/replacement.ts';
import type { Body } from './transcript-run-providers.ts';

interface AnyMessage {
  role?: unknown;
  content?: unknown;
}

/** What the user says in a message, as parts: text and images, no tool results. */
export function userInput(message: AnyMessage): readonly object[] {
  const { role, content } = message;
  if (role !== 'user') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter((part: { type: unknown }) => part.type !== 'tool_result') : [];
}

/** The newest input of the user; empty where there is none. */
export function latestUserInput(messages: readonly AnyMessage[]): readonly object[] {
  return userInput(messages.findLast((message) => userInput(message).length > 0) ?? {});
}

/** True where one message of the user holds exactly these parts, one after the other. */
export function holdsVerbatim(messages: readonly AnyMessage[], parts: readonly object[]): boolean {
  return messages.some((message) => {
    const held = userInput(message);
    return held.some((_part, start) => isDeepStrictEqual(held.slice(start, start + parts.length), parts));
  });
}

/** True where the lists begin with the very same objects, all of `prefix`. */
export function beginsWith(list: readonly unknown[], prefix: readonly unknown[]): boolean {
  return prefix.every((entry, index) => list[index] === entry);
}

/** Names of the fields, the conversation apart, that are not the very same value. */
export function changedFields(original: Body, sent: Body): string[] {
  const before = new Map<string, unknown>(Object.entries(original));
  const after = new Map<string, unknown>(Object.entries(sent));
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => key !== 'messages' && !Object.is(before.get(key), after.get(key)),
  );
}

/** The messages at the start that are instructions. */
export function leadingSystem<Entry extends AnyMessage>(messages: readonly Entry[]): Entry[] {
  const end = messages.findIndex(({ role }) => role !== 'system');
  return messages.slice(0, end === -1 ? messages.length : end);
}

// What a wrapper says of itself, in no recorded conversation.
const wrapperMark = 'A generated record of the conversation so far, which it replaces.';

/** How many replacements there are, and whether one stands inside another. */
export function countWrappers(messages: readonly Message[]): { wrappers: number; nested: boolean } {
  const found = messages.flatMap((message) => readReplacement(message) ?? []);
  const marks = messages
    .flatMap(({ parts }) => parts)
    .reduce((count, part) => count + (part.type === 'text' ? part.text.split(wrapperMark).length - 1 : 0), 0);
  return { wrappers: found.length, nested: marks !== found.length };
}
