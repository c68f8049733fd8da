import { describe, expect, it } from 'vitest';
import { type SizedItem, splitGroups, splitTurn } from '../../src/history/protocol-groups.ts';
import type { Message, Part } from '../../src/message.ts';

const text = (value: string): Part => ({ type: 'text', text: value });
const user = (value: string): Message => ({ role: 'user', parts: [text(value)] });
const says = (value: string): Message => ({ role: 'assistant', parts: [text(value)] });
const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  parts: ids.map((id) => ({ type: 'toolCall', id, name: 'read', input: {} })),
});
const results = (...ids: string[]): Message => ({
  role: 'tool',
  parts: ids.map((callId) => ({ type: 'toolResult', callId, content: [] })),
});
const sized = (...messages: Message[]): SizedItem<Message> => ({ items: messages, messages, tokens: 1 });
const names = (groups: SizedItem<Message>[][]): string[] =>
  groups.map((group) => group.flatMap(({ messages }) => messages.map(({ role }) => role[0])).join(''));

describe('splitGroups', () => {
  it('V18: a group begins with each message of the user and runs to the next', () => {
    const items = [user('1'), calls('a', 'b'), results('a', 'b'), says('x'), user('2'), says('y')].map((message) =>
      sized(message),
    );
    expect(names(splitGroups(items))).toEqual(['uata', 'ua']);
  });

  it('V18: what comes before the first user is a group of its own', () => {
    expect(names(splitGroups([says('Hi'), user('1'), says('x')].map((message) => sized(message))))).toEqual(['a', 'ua']);
  });

  it('does not part results from their calls where the user says something beside them', () => {
    const items = [sized(user('1')), sized(calls('a')), sized(results('a'), user('By the way.')), sized(says('x'))];
    expect(names(splitGroups(items))).toEqual(['uatua']);
  });
});

describe('splitTurn', () => {
  it('parts a turn before each reply of the model', () => {
    const items = [user('1'), calls('a'), results('a'), calls('b', 'c'), results('b'), results('c'), says('x')];
    expect(names(splitTurn(items.map((message) => sized(message))))).toEqual(['u', 'at', 'att', 'a']);
  });

  it('keeps a reply together that is several items', () => {
    const items = [user('1'), says('I look.'), calls('a'), results('a')];
    expect(names(splitTurn(items.map((message) => sized(message))))).toEqual(['u', 'aat']);
  });
});
