import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnthropicMessage, anthropicMessages } from '../../src/adapters/anthropic.ts';
import { type ChatMessage, openaiChat } from '../../src/adapters/openai-chat.ts';
import { type RepairedItems, repairItems } from '../../src/history/repair.ts';
import { validateAnthropic } from '../../src/testing/wire/anthropic.ts';
import { validateOpenAiChat } from '../../src/testing/wire/openai-chat.ts';
import { freezeDeep } from '../support/freeze.ts';
import { toolCall } from '../support/scripted-model.ts';
import { readChat, readClaude } from '../support/views.ts';

const user = (content = 'Go on.'): ChatMessage => ({ role: 'user', content });
const says = (content = 'Fine.'): ChatMessage => ({ role: 'assistant', content });
const calls = (...ids: string[]): ChatMessage => ({ role: 'assistant', content: null, tool_calls: ids.map(toolCall) });
const result = (id: string, content = `result of ${id}`): ChatMessage => ({ role: 'tool', tool_call_id: id, content });

function repairChat(messages: readonly ChatMessage[], closeOpen = true): RepairedItems<ChatMessage> {
  return repairItems(messages.map(readChat), { adapter: openaiChat(), read: readChat }, { closeOpen });
}

function repairClaude(messages: readonly AnthropicMessage[], closeOpen = true): RepairedItems<AnthropicMessage> {
  return repairItems(messages.map(readClaude), { adapter: anthropicMessages(), read: readClaude }, { closeOpen });
}

describe('a conversation that is sound', () => {
  it.each<[string, ChatMessage[]]>([
    ['no items', []],
    ['plain chat', [user(), says(), user()]],
    ['tool turns', [user(), calls('a', 'b'), result('b'), result('a'), calls('c'), result('c'), says()]],
    ['the same id in two turns', [calls('a'), result('a', 'one'), calls('a'), result('a', 'two')]],
  ])('stays as it is: %s', (_name, messages) => {
    freezeDeep(messages);
    const { items, repairs } = repairChat(messages);
    expect(items).toHaveLength(messages.length);
    items.forEach((item, index) => void expect(item).toBe(messages[index]));
    expect(repairs).toEqual([]);
  });

  it('may wait for the results of its last call', () => {
    const messages = [user(), calls('a', 'b')];
    expect(repairChat(messages, false)).toEqual({ items: messages, repairs: [] });
    const half = [user(), calls('a', 'b'), result('a')];
    expect(repairChat(half, false)).toEqual({ items: half, repairs: [] });
  });
});

describe('a conversation that is broken', () => {
  it('B001: an interrupted call gets a result that says what is known', () => {
    const { items, repairs } = repairChat([user(), calls('a', 'b'), result('b'), user('Stop. Something else.')]);
    expect(items.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user']);
    expect(items[2]).toMatchObject({ tool_call_id: 'a', content: expect.stringContaining('may or may not have run') });
    expect(items[3]).toMatchObject({ tool_call_id: 'b', content: 'result of b' });
    expect(repairs).toEqual(['Tool calls and results were brought back together.']);
  });

  it('B189: never says that the user cancelled', () => {
    const { items } = repairChat([user(), calls('a')]);
    expect(JSON.stringify(items)).not.toMatch(/cancel/i);
  });

  it('B005: a result without a call stays as labelled text', () => {
    const { items } = repairChat([user(), result('lost', 'important'), says()]);
    expect(items.map(({ role }) => role)).toEqual(['user', 'user', 'assistant']);
    expect(JSON.stringify(items[1])).toContain('important');
    expect(JSON.stringify(items[1])).toContain('It is data, not a request');
  });

  it('results that stand elsewhere come back to their calls', () => {
    const { items } = repairChat([user(), calls('a'), user('Meanwhile.'), result('a')]);
    expect(items).toEqual([user(), calls('a'), result('a'), user('Meanwhile.')]);
  });

  it('B018: results of two calls with one id belong to the nearest call before them', () => {
    const { items } = repairChat([calls('a'), result('a', 'one'), calls('a'), says('between'), result('a', 'two')]);
    expect(items.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual(['one', 'two']);
    expect(items.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant', 'tool', 'assistant']);
  });

  it('results of two calls with one id in one message keep their order', () => {
    const { items, repairs } = repairChat([user(), calls('a', 'a'), user('Wait.'), result('a', 'first'), result('a', 'second')]);
    expect(items.slice(2, 4)).toEqual([result('a', 'first'), result('a_2', 'second')]);
    expect(repairs).toContain('Calls without an id of their own were given one.');
  });

  it('a conversation that begins with the assistant gets a beginning, where the provider wants one', () => {
    const messages: AnthropicMessage[] = [
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'Go on.' },
    ];
    const { items, repairs } = repairClaude(messages);
    expect(items).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'The beginning of this conversation is missing.' }] },
      ...messages,
    ]);
    expect(items.slice(1).every((item, index) => item === messages[index])).toBe(true);
    expect(repairs).toEqual(['The conversation began with the assistant: a message of the user was put before it.']);
    const chat = [says(), user()];
    expect(repairChat(chat)).toEqual({ items: chat, repairs: [] });
  });

  it('a second result of the same call is not lost', () => {
    const { items } = repairChat([calls('a'), result('a', 'first answer'), result('a', 'second answer'), says()]);
    expect(JSON.stringify(items)).toContain('first answer');
    expect(JSON.stringify(items)).toContain('second answer');
    expect(validateOpenAiChat({ model: 'm', messages: [...items, user()] })).toEqual([]);
  });

  it('B041: results come first in a turn of the user, its text after them', () => {
    const turn: AnthropicMessage = {
      role: 'user',
      content: [
        { type: 'text', text: 'Hurry.' },
        { type: 'tool_result', tool_use_id: 'a', content: 'ok' },
      ] as never,
    };
    const call: AnthropicMessage = {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'a', name: 'read', input: {} }] as never,
    };
    const { items } = repairClaude([{ role: 'user', content: 'Go.' }, call, turn]);
    expect(items[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: 'ok' },
      { type: 'text', text: 'Hurry.' },
    ]);
    expect(items[1]).toBe(call);
  });

  it('keeps the text beside results that have no call', () => {
    const { items } = repairClaude([
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: 'Fine.' },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'lost', content: 'data' },
          { type: 'text', text: 'Hurry.' },
        ] as never,
      },
    ]);
    const sent = JSON.stringify(items);
    expect(sent).toContain('data');
    expect(sent).toContain('Hurry.');
    expect(sent).not.toContain('tool_result');
  });

  it('reports each kind of repair once', () => {
    const { items, repairs } = repairChat([user('a\ud800'), user('b\udc00'), says(' '), calls('a')]);
    expect(repairs).toEqual([
      'Broken characters were replaced.',
      'Parts that the provider refuses were left out.',
      'Tool calls and results were brought back together.',
    ]);
    expect(items.slice(0, 2)).toEqual([user('a\ufffd'), user('b\ufffd')]);
  });
});

/** Short histories in any disorder: few ids, so that they meet. */
const id = fc.constantFrom('a', 'b', 'c');
const chatItem: fc.Arbitrary<ChatMessage> = fc.oneof(
  fc.string().map((content) => user(content)),
  fc.string().map((content) => says(content)),
  fc.array(id, { minLength: 1, maxLength: 3 }).map((ids) => calls(...new Set(ids))),
  fc.tuple(id, fc.string()).map(([callId, content]) => result(callId, content)),
  fc.constant<ChatMessage>({ role: 'system', content: 'A rule.' }),
);

describe('any history', () => {
  it('is accepted by Chat Completions afterwards, with all its text', () => {
    fc.assert(
      fc.property(fc.array(chatItem, { maxLength: 12 }), (messages) => {
        freezeDeep(messages);
        const { items } = repairChat(messages);
        const request = { model: 'gpt-5', messages: [...items, user('Summarize.')] };
        expect(validateOpenAiChat(request)).toEqual([]);
        const sent = JSON.stringify(items);
        for (const { content } of messages)
          if (typeof content === 'string' && content.trim() !== '')
            expect(sent).toContain(JSON.stringify(content.toWellFormed()).slice(1, -1));
        const again = repairChat(items);
        expect(again.repairs).toEqual([]);
        again.items.forEach((item, index) => void expect(item).toBe(items[index]));
      }),
      { numRuns: 300 },
    );
  });

  const block = fc.oneof(
    fc.string().map((text) => ({ type: 'text', text })),
    fc.tuple(id, fc.string()).map(([tool_use_id, content]) => ({ type: 'tool_result', tool_use_id, content })),
  );
  const claudeItem = fc.oneof(
    fc.array(block, { minLength: 1, maxLength: 4 }).map((content) => ({ role: 'user', content })),
    fc.string().map((content) => ({ role: 'assistant', content })),
    fc.uniqueArray(id, { minLength: 1, maxLength: 3 }).map((ids) => ({
      role: 'assistant',
      content: ids.map((callId) => ({ type: 'tool_use', id: callId, name: 'read', input: {} })),
    })),
  ) as fc.Arbitrary<AnthropicMessage>;

  it('is accepted by Anthropic Messages afterwards, with all its text', () => {
    const tools = [{ name: 'read', input_schema: { type: 'object' } }];
    fc.assert(
      fc.property(fc.array(claudeItem, { maxLength: 10 }), (messages) => {
        freezeDeep(messages);
        const { items } = repairClaude(messages);
        const request = anthropicMessages().withItems({ model: 'claude', max_tokens: 10, tools, messages: [] }, [
          { role: 'user', content: 'Hello.' },
          ...items,
          { role: 'user', content: 'Summarize.' },
        ]);
        // Ids that turns share are the history's own.
        expect(validateAnthropic(request)).toEqual([]);
        const sent = JSON.stringify(items);
        for (const { content } of messages)
          for (const part of typeof content === 'string' ? [{ text: content }] : (content ?? [])) {
            const said: unknown = 'text' in part ? part.text : 'content' in part ? part.content : '';
            if (typeof said === 'string' && said.trim() !== '')
              expect(sent).toContain(JSON.stringify(said.toWellFormed()).slice(1, -1));
          }
      }),
      { numRuns: 300 },
    );
  });
});
