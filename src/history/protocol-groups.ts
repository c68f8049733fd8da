import type { Message } from '../message.ts';
import { hasUserContent, type IsUserInput } from './turns.ts';

/** An item of a conversation, or what was made of it, and what it says. */
export interface SizedItem<Item> {
  items: readonly Item[];
  messages: readonly Message[];
  tokens: number;
}

/**
 * Items in protocol groups: each begins with what the user says and runs to the next. Items before the first user are a group of their own.
 * Within a conversation whose calls are all answered, no group parts a call from its result. V18
 */
export function splitGroups<Item>(items: readonly SizedItem<Item>[]): SizedItem<Item>[][] {
  return splitBefore(items, (item) => opensGroup(item, hasUserContent));
}

/** A group in steps: what the user says, then each message of the assistant with the results of its calls. */
export function splitTurn<Item>(group: readonly SizedItem<Item>[]): SizedItem<Item>[][] {
  let answered = true;
  return splitBefore(group, ({ messages }) => {
    const opens = answered && messages.some(({ role }) => role === 'assistant');
    // One turn of the model may be several items: it is open until a result or the user comes.
    answered = !messages.some(({ role }) => role === 'assistant');
    return opens;
  });
}

/** True for an item with which the user begins something new. Words beside results still belong to the calls before. V18 */
export function opensGroup({ messages }: { messages: readonly Message[] }, isUserInput: IsUserInput): boolean {
  return (
    messages.some((message) => hasUserContent(message) && isUserInput(message)) &&
    !messages.some(({ parts }) => parts.some(({ type }) => type === 'toolResult'))
  );
}

function splitBefore<Item>(items: readonly SizedItem<Item>[], opens: (item: SizedItem<Item>) => boolean): SizedItem<Item>[][] {
  const groups: SizedItem<Item>[][] = [];
  for (const item of items) {
    const group = groups.at(-1);
    if (opens(item) || !group) groups.push([item]);
    else group.push(item);
  }
  return groups;
}
