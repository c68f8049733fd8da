import { isDeepStrictEqual } from 'node:util';
import { textOf } from '../../src/message.ts';
import { readReplacement } from '../../src/prompt/replacement.ts';

/** Both shapes have the conversation here. */
export interface Body {
  readonly messages: readonly object[];
}

interface AnyMessage {
  role?: unknown;
  content?: unknown;
}

/** What the user says in a message, as parts: text and images, no tool results. */
function userInput({ role, content }: AnyMessage): readonly object[] {
  if (role !== 'user') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter((part: { type: unknown }) => part.type !== 'tool_result') : [];
}

/** The newest input of the user; empty where there is none. */
export function latestUserInput(messages: readonly AnyMessage[]): readonly object[] {
  return userInput(messages.findLast((message) => userInput(message).length > 0) ?? {});
}

/** True where a message of the user holds exactly these parts, one after the other. */
export function holdsVerbatim(messages: readonly AnyMessage[], parts: readonly object[]): boolean {
  return messages.some((message) => {
    const held = userInput(message);
    return held.some((_part, start) => isDeepStrictEqual(held.slice(start, start + parts.length), parts));
  });
}

/** The messages at the start that are instructions. */
export function leadingSystem(messages: readonly AnyMessage[]): readonly object[] {
  const end = messages.findIndex(({ role }) => role !== 'system');
  return messages.slice(0, end === -1 ? messages.length : end);
}

/** True where the lists begin with the very same objects, all of `prefix`. */
export function beginsWith(list: readonly unknown[], prefix: readonly unknown[]): boolean {
  return prefix.every((entry, index) => list[index] === entry);
}

/** Names of the fields, the conversation apart, that are not the very same value. */
export function changedFields(original: Body, other: Body): string[] {
  const before = new Map<string, unknown>(Object.entries(original));
  const after = new Map<string, unknown>(Object.entries(other));
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => key !== 'messages' && !Object.is(before.get(key), after.get(key)),
  );
}

// How a wrapper begins; in no recorded conversation.
const wrapperStart = 'A generated record of the conversation so far, which it replaces.';

/** How many messages are replacements, and how often one begins anywhere in the text of the user: more where one is inside another. */
export function countWrappers(messages: readonly AnyMessage[]): { replacements: number; wrappers: number } {
  const inputs = messages.map(userInput).filter((parts) => parts.length > 0);
  // Parts of both shapes are neutral where they are text; of the others only their place counts here.
  const neutral = inputs.map((parts) => ({ role: 'user' as const, parts: parts as { type: 'text'; text: string }[] }));
  return {
    replacements: neutral.filter((message) => readReplacement(message)).length,
    wrappers: neutral.reduce((count, message) => count + textOf(message).split(wrapperStart).length - 1, 0),
  };
}
