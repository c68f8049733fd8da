import type { Message, Part } from '../message.ts';
import type { Reading } from './reading.ts';

/** Decides whether a user-role message is something the user said. */
export type IsUserInput = (message: Message) => boolean;

/** True for a message of the user that holds more than tool results and blank text. */
export function hasUserContent(message: Message): boolean {
  return message.role === 'user' && userParts(message).length > 0;
}

/** What a user message says, without tool results and blank text. */
export function userParts(message: Message): readonly Part[] {
  return message.parts.filter((part) => part.type !== 'toolResult' && !(part.type === 'text' && part.text.trim() === ''));
}

/**
 * The calls at the end of a conversation that still wait for their results. A call with later input of the user is not open: it is
 * abandoned. Looks at the last turn alone.
 */
export function openCalls(items: readonly Pick<Reading<unknown>, 'messages'>[]): string[] {
  const answered: string[] = [];
  for (const message of messagesFromEnd(items)) {
    if (message.role === 'assistant') return withoutAnswered(callIds(message), answered);
    if (message.role === 'tool') answered.push(...resultIds(message));
    else if (hasUserContent(message)) return [];
  }
  return [];
}

/**
 * True where a turn is complete in the items: an answer without calls, or a tool turn whose calls were all answered. With `toolsOnly` just
 * a tool turn after the last input of the user (K39). Looks back no further than the newest one.
 */
export function hasCompletedTurn(
  readings: readonly Reading<unknown>[],
  { toolsOnly, isUserInput }: { toolsOnly: boolean; isUserInput: IsUserInput },
): boolean {
  let answered: string[] = [];
  for (const message of messagesFromEnd(readings)) {
    if (message.role === 'tool') answered.push(...resultIds(message));
    else if (message.role === 'assistant') {
      const calls = callIds(message);
      // Results without a call here answer those that the server holds.
      if (calls.length > 0 ? withoutAnswered(calls, answered).length === 0 : !toolsOnly || answered.length > 0) return true;
      answered = [];
    } else if (toolsOnly && isUserInput(message)) return false;
  }
  return false;
}

function* messagesFromEnd(items: readonly Pick<Reading<unknown>, 'messages'>[]): Generator<Message> {
  for (let index = items.length - 1; index >= 0; index--) {
    const messages = items[index]?.messages ?? [];
    for (let position = messages.length - 1; position >= 0; position--) {
      const message = messages[position];
      if (message) yield message;
    }
  }
}

/** By occurrence: an id that was called twice has to be answered twice. */
function withoutAnswered(calls: readonly string[], answered: readonly string[]): string[] {
  const left = [...answered];
  return calls.filter((id) => {
    const index = left.indexOf(id);
    if (index !== -1) left.splice(index, 1);
    return index === -1;
  });
}

function callIds(message: Message): string[] {
  return message.parts.flatMap((part) => (part.type === 'toolCall' ? [part.id] : []));
}

function resultIds(message: Message): string[] {
  return message.parts.flatMap((part) => (part.type === 'toolResult' ? [part.callId] : []));
}
