import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../../src/adapters/anthropic.ts';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import { splitSteps } from '../../src/adapters/split-steps.ts';
import type { Message, Part, ToolResultPart } from '../../src/message.ts';
import { validateAnthropic } from '../../src/testing/wire/anthropic.ts';
import { validateOpenAiChat } from '../../src/testing/wire/openai-chat.ts';

const text = (content: string): Part => ({ type: 'text', text: content });
const call = (id: string, name = 'read'): Part => ({ type: 'toolCall', id, name, input: { path: 'a.ts' } });
const result = (callId: string, content: string): ToolResultPart => ({
  type: 'toolResult',
  callId,
  content: [{ type: 'text', text: content }],
});
/** Behind its call a result has the name of its tool. */
const named = (callId: string, content: string): Part => ({ ...result(callId, content), name: 'read' });
const assistant = (...parts: Part[]): Message => ({ role: 'assistant', parts });

describe('an assistant message with the results of its calls', () => {
  it('K13: is written step by step, results right after their calls', () => {
    const message = assistant(
      text('Looking.'),
      call('a'),
      result('a', 'A'),
      text('Then.'),
      call('b'),
      result('b', 'B'),
      text('Done.'),
    );
    expect(splitSteps(message)).toEqual([
      assistant(text('Looking.'), call('a')),
      { role: 'tool', parts: [named('a', 'A')] },
      assistant(text('Then.'), call('b')),
      { role: 'tool', parts: [named('b', 'B')] },
      assistant(text('Done.')),
    ]);
  });

  it('keeps calls together that were made together, in whatever order their results stand', () => {
    const steps = [assistant(call('a'), call('b')), { role: 'tool', parts: [named('a', 'A'), named('b', 'B')] }];
    expect(splitSteps(assistant(call('a'), result('a', 'A'), call('b'), result('b', 'B')))).toEqual(steps);
    expect(splitSteps(assistant(call('a'), call('b'), result('a', 'A'), result('b', 'B')))).toEqual(steps);
  });

  it('gives calls without an id one that is the same each time, and their results the same', () => {
    const message = assistant(call(''), result('', 'A'), call(''), result('', 'B'));
    const [said, answered] = splitSteps(message);
    const ids = said?.parts.map((part) => part.type === 'toolCall' && part.id) ?? [];
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^historical_[\da-f]{16}_\d$/);
    expect(answered?.parts.map((part) => part.type === 'toolResult' && part.callId)).toEqual(ids);
    expect(splitSteps(structuredClone(message))).toEqual(splitSteps(message));
  });

  it('leaves every other message as it is', () => {
    for (const message of [assistant(text('Hi.'), call('a')), { role: 'user', parts: [text('Hi.')] } as const])
      expect(splitSteps(message)).toEqual([message]);
  });

  it('makes a request that each provider takes', () => {
    const history = assistant(
      text('Looking.'),
      call(''),
      call(''),
      result('', 'A'),
      result('', 'B'),
      text('Then.'),
      call('x'),
      result('x', 'X'),
    );
    const user = { role: 'user', content: 'Go.' };
    const chat = { model: 'gpt-5', messages: [user, ...openaiChat().writeMessage(history)], tools: [] as object[] };
    chat.tools.push({ type: 'function', function: { name: 'read', parameters: { type: 'object' } } });
    expect(validateOpenAiChat(chat)).toEqual([]);
    const claude = { model: 'c', max_tokens: 10, messages: [user, ...anthropicMessages().writeMessage(history)] };
    expect(validateAnthropic({ ...claude, tools: [{ name: 'read', input_schema: { type: 'object' } }] })).toEqual([]);
    for (const content of ['Looking.', 'A', 'B', 'Then.', 'X']) {
      expect(JSON.stringify(chat)).toContain(`"${content}"`);
      expect(JSON.stringify(claude)).toContain(`"${content}"`);
    }
  });
});
