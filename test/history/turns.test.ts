import { describe, expect, it } from 'vitest';
import type { AnthropicMessage } from '../../src/adapters/anthropic.ts';
import { hasCompletedTurn, hasUserContent, openCalls, userParts } from '../../src/history/turns.ts';
import type { Message } from '../../src/message.ts';
import { readClaude } from '../support/views.ts';

const says = (role: 'user' | 'assistant' | 'system', text = 'text'): AnthropicMessage => ({ role, content: text });
const calls = (...ids: string[]): AnthropicMessage => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool_use', id, name: 'read', input: {} })),
});
const results = (...ids: string[]): AnthropicMessage => ({
  role: 'user',
  content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })),
});
const resultsAndText = (...ids: string[]): AnthropicMessage => ({
  role: 'user',
  content: [...(results(...ids).content as { type: string }[]), { type: 'text', text: 'And hurry.' } as { type: string }],
});

describe('what a user says', () => {
  it('is all but tool results and blank text', () => {
    const image = { type: 'media', kind: 'image', value: {} } as const;
    const message: Message = {
      role: 'user',
      parts: [
        { type: 'text', text: ' \n' },
        { type: 'toolResult', callId: 'c', content: [] },
        image,
        { type: 'text', text: 'What is it?' },
      ],
    };
    expect(userParts(message)).toEqual([image, { type: 'text', text: 'What is it?' }]);
    expect(userParts(message)[0]).toBe(image);
    expect(hasUserContent(message)).toBe(true);
    expect(hasUserContent({ ...message, role: 'assistant' })).toBe(false);
    expect(hasUserContent({ role: 'user', parts: message.parts.slice(0, 2) })).toBe(false);
    expect(hasUserContent({ role: 'user', parts: [] })).toBe(false);
  });
});

describe('openCalls', () => {
  it.each<[string, AnthropicMessage[], string[]]>([
    ['an empty history', [], []],
    ['a call at the end', [says('user'), calls('a', 'b')], ['a', 'b']],
    ['one of two answered', [says('user'), calls('a', 'b'), results('a')], ['b']],
    ['all answered', [says('user'), calls('a', 'b'), results('b', 'a')], []],
    ['answers in two messages', [calls('a', 'b'), results('a'), results('b')], []],
    ['the same id twice, answered once', [calls('a', 'a'), results('a')], ['a']],
    ['an abandoned call: the user went on', [calls('a'), says('user')], []],
    ['an abandoned call: the assistant went on', [calls('a'), says('assistant')], []],
    ['text of the user beside the results', [calls('a', 'b'), resultsAndText('a')], []],
    ['a system message behind the call', [calls('a'), says('system')], ['a']],
    ['a result of an unknown call', [calls('a'), results('zz')], ['a']],
  ])('finds those of %s', (_name, items, expected) => {
    expect(openCalls(items.map(readClaude))).toEqual(expected);
  });
});

describe('hasCompletedTurn', () => {
  const completed = (items: AnthropicMessage[], toolsOnly = false, isUserInput = hasUserContent) =>
    hasCompletedTurn(items.map(readClaude), { toolsOnly, isUserInput });

  it.each<[string, AnthropicMessage[], boolean, boolean]>([
    ['nothing', [], false, false],
    ['a question', [says('user')], false, false],
    ['an answered question', [says('user'), says('assistant')], true, false],
    ['an answered question and a new one', [says('user'), says('assistant'), says('user')], true, false],
    ['an open call', [says('user'), calls('a')], false, false],
    ['half of the answers', [says('user'), calls('a', 'b'), results('a')], false, false],
    ['a tool turn', [says('user'), calls('a'), results('a')], true, true],
    ['a tool turn in two messages', [says('user'), calls('a', 'b'), results('a'), results('b')], true, true],
    ['a tool turn and an answer', [says('user'), calls('a'), results('a'), says('assistant')], true, true],
    ['two tool turns', [says('user'), calls('a'), results('a'), calls('b'), results('b')], true, true],
    ['a tool turn before new input', [calls('a'), results('a'), says('assistant'), says('user')], true, false],
    ['a tool turn that ends with input beside the result', [says('user'), calls('a'), resultsAndText('a')], true, false],
    ['a result without a call', [says('user'), results('a')], false, false],
  ])('finds one in %s', (_name, items, turns, toolTurns) => {
    expect(completed(items)).toBe(turns);
    expect(completed(items, true)).toBe(toolTurns);
  });

  it('with tools only starts again with input of the user, not with a nudge of the host', () => {
    const items = [says('user'), calls('a'), results('a'), says('user', 'Reminder: go on.')];
    expect(completed(items, true)).toBe(false);
    expect(completed(items, true, (message) => !JSON.stringify(message).includes('Reminder'))).toBe(true);
  });
});
