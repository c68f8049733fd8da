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

/** The calls at the end of a conversation that still wait for their results. A call with later input of the user is not open: it is abandoned. */
export function openCalls(messages: readonly Message[]): string[] {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool')
      for (const part of message.parts) {
        const index = part.type === 'toolResult' ? open.indexOf(part.callId) : -1;
        if (index !== -1) open.splice(index, 1);
      }
    else if (message.role === 'assistant') open = callIds(message);
    else if (hasUserContent(message)) open = [];
  }
  return open;
}

/**
 * How many turns are complete in the items: answers without calls, and tool turns whose last call was answered. With `toolsOnly` just
 * the tool turns after the last input of the user (K39).
 */
export function countCompletedTurns(
  readings: readonly Reading<unknown>[],
  options: { toolsOnly: boolean; isUserInput: IsUserInput },
): number {
  let turns = 0;
  let waiting: string[] = [];
  for (const { messages } of readings)
    for (const message of messages) {
      if (message.role === 'assistant') {
        waiting = callIds(message);
        if (waiting.length === 0 && !options.toolsOnly) turns++;
      } else if (message.role === 'tool' && waiting.length > 0) {
        for (const part of message.parts)
          if (part.type === 'toolResult' && waiting.includes(part.callId)) waiting.splice(waiting.indexOf(part.callId), 1);
        if (waiting.length === 0) turns++;
      } else if (options.toolsOnly && options.isUserInput(message)) turns = 0;
    }
  return turns;
}

function callIds(message: Message): string[] {
  return message.parts.flatMap((part) => (part.type === 'toolCall' ? [part.id] : []));
}
