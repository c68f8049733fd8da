import fc from 'fast-check';
import type { CutOptions } from '../../src/history/preview-items.ts';
import type { SizedItem } from '../../src/history/protocol-groups.ts';
import type { Message, Part } from '../../src/message.ts';
import { countTokens } from './scripted-model.ts';

/** Conversations whose items are neutral messages, for the planning of what is kept. */
export type Sized = SizedItem<readonly Message[]>;

export const text = (value: string): Part => ({ type: 'text', text: value });
export const user = (value: string): Message => ({ role: 'user', parts: [text(value)] });
export const says = (value: string): Message => ({ role: 'assistant', parts: [text(value)] });
export const system = (value: string): Message => ({ role: 'system', parts: [text(value)] });
export const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  parts: ids.map((id) => ({ type: 'toolCall', id, name: 'read', input: { path: 'a.ts' } })),
});
export const results = (...ids: string[]): Message => ({
  role: 'tool',
  parts: ids.map((callId) => ({ type: 'toolResult', callId, content: [{ type: 'text', text: `Found by ${callId}.` }] })),
});
export const longResult = (callId: string, length: number): Message => ({
  role: 'tool',
  parts: [{ type: 'toolResult', callId, content: [{ type: 'text', text: 'r'.repeat(length) }] }],
});

const sizeOf = (messages: readonly Message[]): number => countTokens(JSON.stringify(messages));

/** One item of these messages; its size as it is counted, or a given one. */
export const item = (messages: Message | readonly Message[], tokens?: number): Sized => {
  const list = [messages].flat();
  return { items: [list], messages: list, tokens: tokens ?? sizeOf(list) };
};
/** An item for each message. */
export const itemsOf = (...messages: Message[]): Sized[] => messages.map((message) => item(message));
/** An item of ten tokens for each message. */
export const tens = (...messages: Message[]): Sized[] => messages.map((message) => item(message, 10));

export const cutOptions: CutOptions<readonly Message[]> = {
  write: (message) => (message.parts.length > 0 ? [[message]] : []),
  countItems: (items) => items.reduce((sum, messages) => sum + sizeOf(messages), 0),
  countTokens,
};

export const idsOf = (items: readonly Sized[], type: 'toolCall' | 'toolResult'): string[] =>
  items
    .flatMap(({ messages }) => messages)
    .flatMap(({ parts }) => parts)
    .flatMap((part) => {
      if (part.type !== type) return [];
      return part.type === 'toolCall' ? [part.id] : part.type === 'toolResult' ? [part.callId] : [];
    });

/** What is wrong with the pairs of a conversation: empty where each call has one result after it, and each result a call before it. */
export function findBrokenPairs(items: readonly Sized[]): string[] {
  const open: string[] = [];
  const broken: string[] = [];
  for (const part of items.flatMap(({ messages }) => messages).flatMap(({ parts }) => parts)) {
    if (part.type === 'toolCall') open.push(part.id);
    if (part.type !== 'toolResult') continue;
    const place = open.indexOf(part.callId);
    if (place === -1) broken.push(`result ${part.callId}`);
    else open.splice(place, 1);
  }
  return [...broken, ...open.map((id) => `call ${id}`)];
}

const ids = fc.constantFrom('a', 'b', 'c', 'd');
const someIds = fc.array(ids, { minLength: 1, maxLength: 3 });
const words = fc
  .tuple(
    fc.constantFrom('Go on.', 'No, that is wrong.', 'It failed: error 7.', ' ', 'Näher: 📦 你好.'),
    fc.constantFrom(1, 1, 9, 90),
  )
  .map(([phrase, times]) => phrase.repeat(times));

const anyItem: fc.Arbitrary<Sized> = fc.oneof(
  { weight: 3, arbitrary: words.map((value) => item(user(value))) },
  { weight: 2, arbitrary: words.map((value) => item(says(value))) },
  { weight: 4, arbitrary: someIds.map((list) => item(calls(...list))) },
  { weight: 4, arbitrary: someIds.map((list) => item(results(...list))) },
  { weight: 1, arbitrary: fc.tuple(someIds, words).map(([list, value]) => item([results(...list), user(value)])) },
  { weight: 1, arbitrary: ids.map((id) => item({ role: 'assistant', parts: [...calls(id).parts, ...results(id).parts] })) },
  { weight: 1, arbitrary: fc.constant(item(system('A rule.'))) },
);

/** Calls with their results, the results in one item or in several, in any order. */
const anyTurn: fc.Arbitrary<Sized[]> = fc
  .tuple(words, fc.uniqueArray(ids, { maxLength: 3 }), fc.boolean(), fc.boolean(), words)
  .map(([said, list, apart, together, answer]) => [
    item(user(said)),
    ...(list.length === 0 ? [] : apart ? list.map((id) => item(calls(id))) : [item(calls(...list))]),
    ...(list.length === 0 ? [] : together ? [item(results(...list))] : [...list].reverse().map((id) => item(results(id)))),
    item(says(answer)),
  ]);

/** Turns as they should be, and among them anything at all. */
export const anyConversation: fc.Arbitrary<Sized[]> = fc
  .array(fc.oneof({ weight: 2, arbitrary: anyTurn }, { weight: 1, arbitrary: fc.array(anyItem, { maxLength: 4 }) }), {
    maxLength: 8,
  })
  .map((parts) => parts.flat());

/** Turns as they should be. */
export const wholeConversation: fc.Arbitrary<Sized[]> = fc.array(anyTurn, { maxLength: 8 }).map((turns) => turns.flat());
