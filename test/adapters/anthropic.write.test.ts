import { describe, expect, it } from 'vitest';
import { type AnthropicMessage, anthropicMessages } from '../../src/adapters/anthropic.ts';
import type { Message, Part } from '../../src/message.ts';
import { validateAnthropic } from '../../src/testing/wire/anthropic.ts';

const adapter = anthropicMessages();
const text = (value: string): Part & { type: 'text' } => ({ type: 'text', text: value });

function write(role: Message['role'], ...parts: Part[]): AnthropicMessage[] {
  return adapter.writeMessage({ role, parts });
}

function rulesBrokenBy(messages: readonly AnthropicMessage[], more: object = {}): string[] {
  const request = { model: 'claude', max_tokens: 4096, tools: [{ name: 'read', input_schema: {} }], messages, ...more };
  return validateAnthropic(request).map(({ rule }) => rule);
}

// Literals with fields beyond `type`.
const block = (value: { type: string; [field: string]: unknown }): { type: string } => value;
const call = (id: string): { type: string } => block({ type: 'tool_use', id, name: 'read', input: {} });
const result = (id: string): { type: string } => block({ type: 'tool_result', tool_use_id: id, content: 'done' });
const said = (value: string): { type: string } => block({ type: 'text', text: value });

describe('writeMessage', () => {
  it('writes a user message without blank text, media as they came', () => {
    const image = { type: 'image', source: { type: 'file', file_id: 'f' } };
    const items = write('user', text('Look'), text(' \n'), { type: 'media', kind: 'image', value: image });
    expect(items).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Look' }, image] }]);
    expect(items[0]?.content?.[1]).toBe(image);
  });

  it('writes nothing where nothing is left', () => {
    expect(write('user', text(' '))).toEqual([]);
    expect(write('assistant', { type: 'reasoning', text: 'Hm.' })).toEqual([]);
    expect(write('system')).toEqual([]);
  });

  it('writes all results of a tool message into one user message, errors never empty', () => {
    const items = write(
      'tool',
      { type: 'toolResult', callId: 't1', content: [text('done')] },
      { type: 'toolResult', callId: 't2', content: [], isError: true },
      { type: 'toolResult', callId: 't3', content: [text('')] },
    );
    expect(items).toEqual([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'done' }] },
          {
            type: 'tool_result',
            tool_use_id: 't2',
            content: [{ type: 'text', text: expect.stringMatching(/\S/) }],
            is_error: true,
          },
          { type: 'tool_result', tool_use_id: 't3' },
        ],
      },
    ]);
  });

  it('B041: results come first, also from a user message', () => {
    const items = write('user', text('Look'), { type: 'toolResult', callId: 't1', content: [] });
    expect(items[0]?.content).toEqual([{ type: 'tool_result', tool_use_id: 't1' }, said('Look')]);
  });

  it('writes text and calls of the assistant, without its thinking', () => {
    const server = { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} };
    const items = write(
      'assistant',
      { type: 'reasoning', text: 'Hm.' },
      { type: 'native', value: { signature: 'sealed' } },
      { type: 'native', value: { type: 'redacted_thinking', data: 'x' } },
      text('Reading. '),
      { type: 'native', value: server },
      { type: 'toolCall', id: 't1', name: 'read', input: { path: 'a' } },
    );
    expect(items).toEqual([
      {
        role: 'assistant',
        content: [said('Reading. '), server, { type: 'tool_use', id: 't1', name: 'read', input: { path: 'a' } }],
      },
    ]);
  });

  it('trims white space only at the end of the final text', () => {
    expect(write('assistant', text(' a '), text(' b \n'))[0]?.content).toEqual([said(' a '), said(' b')]);
    expect(write('assistant', text('a '), text(' '))[0]?.content).toEqual([said('a')]);
  });

  it.each([
    ['{"a":', { value: '{"a":' }],
    [[1], { value: [1] }],
    [null, { value: null }],
    [undefined, {}],
  ])('wraps an input that is no object: %j', (input, written) => {
    const [item] = write('assistant', { type: 'toolCall', id: 't1', name: 'read', input });
    expect(item?.content).toEqual([{ type: 'tool_use', id: 't1', name: 'read', input: written }]);
  });

  it.each(['call|1', 'x'.repeat(65), 'übung', 'a b'])('maps the illegal id %j alike in call and result', (id) => {
    const items = [
      { role: 'user', content: 'Go' },
      ...write('assistant', { type: 'toolCall', id, name: 'read', input: {} }),
      ...write('tool', { type: 'toolResult', callId: id, content: [] }),
    ];
    expect(rulesBrokenBy(items)).toEqual([]);
  });

  it('leaves calls without an id so: the library tells them apart, and names them', () => {
    expect(write('assistant', { type: 'toolCall', id: '', name: 'read', input: {} })).toMatchObject([{ content: [{ id: '' }] }]);
    expect(write('tool', { type: 'toolResult', callId: '', content: [] })).toMatchObject([{ content: [{ tool_use_id: '' }] }]);
  });

  it('keeps legal ids, and different ids different', () => {
    const written = (id: string): unknown => write('tool', { type: 'toolResult', callId: id, content: [] })[0]?.content?.[0];
    expect(written('toolu_01-A')).toMatchObject({ tool_use_id: 'toolu_01-A' });
    const ids = ['a b', 'a.b', 'a|b', `${'x'.repeat(64)}1`, `${'x'.repeat(64)}2`].map((id) => JSON.stringify(written(id)));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('writes system messages', () => {
    expect(write('system', text('Be brief.'))).toEqual([{ role: 'system', content: [said('Be brief.')] }]);
  });

  it('writes well-formed text', () => {
    expect(write('user', text('cut \ud83d'))[0]?.content).toEqual([said('cut \ufffd')]);
  });

  it('gives back what readItem reads', () => {
    const item: AnthropicMessage = { role: 'assistant', content: [said('Reading.'), call('t1')] };
    expect(adapter.readItem(item).flatMap(adapter.writeMessage)).toEqual([item]);
  });
});

describe('withItems', () => {
  const user = (value: string): AnthropicMessage => ({ role: 'user', content: value });
  const assistant = (value: string): AnthropicMessage => ({ role: 'assistant', content: value });
  const system = (value: string): AnthropicMessage => ({ role: 'system', content: value });

  function arrange(items: readonly AnthropicMessage[], more: object = {}): readonly AnthropicMessage[] {
    const request = { model: 'claude', messages: [user('old')], max_tokens: 5, ...more };
    const arranged = adapter.withItems(request, items);
    expect(Object.keys(arranged)).toEqual(Object.keys(request));
    expect(request.messages).toEqual([user('old')]);
    return arranged.messages;
  }

  it('keeps items that need no repair, the very same objects', () => {
    const items = [user('a'), system('s'), assistant('b'), user('c'), user('d')];
    const arranged = arrange(items);
    expect(arranged).toHaveLength(items.length);
    for (const [index, item] of items.entries()) expect(arranged[index]).toBe(item);
  });

  it('leaves out empty turns', () => {
    const empty = [{ role: 'assistant', content: [] }, { role: 'user', content: ' ' }, { role: 'assistant' }];
    expect(arrange([user('a'), ...empty, assistant('b')])).toEqual([user('a'), assistant('b')]);
  });

  const s = system('s');
  const searching: AnthropicMessage = {
    role: 'assistant',
    content: [block({ type: 'web_search_tool_result', tool_use_id: 's1', content: [] })],
  };

  it.each<[string, AnthropicMessage[], AnthropicMessage[]]>([
    ['first', [s, user('a'), assistant('b')], [user('a'), s, assistant('b')]],
    ['before a user', [user('a'), s, user('b'), assistant('c')], [user('a'), user('b'), s, assistant('c')]],
    ['after an assistant', [user('a'), assistant('b'), s, user('c')], [user('a'), assistant('b'), user('c'), s]],
    ['last after an assistant', [user('a'), assistant('b'), s], [user('a'), s, assistant('b')]],
    ['after server tools', [user('a'), searching, s, assistant('b')], [user('a'), searching, s, assistant('b')]],
    ['alone', [s], [s]],
  ])('moves a system message that stands %s where it may stand', (_where, items, expected) => {
    const arranged = arrange(items);
    expect(arranged).toEqual(expected);
    expect(arranged.find(({ role }) => role === 'system')).toBe(s);
  });

  it('merges consecutive system messages into one', () => {
    const arranged = arrange([user('a'), system('s1'), system('s2'), assistant('b'), system('s3'), user('c')]);
    expect(arranged).toEqual([
      user('a'),
      { role: 'system', content: [said('s1'), said('s2')] },
      assistant('b'),
      user('c'),
      system('s3'),
    ]);
    expect(arrange([user('a'), s, assistant('b'), system('t')])).toEqual([
      user('a'),
      { role: 'system', content: [said('s'), said('t')] },
      assistant('b'),
    ]);
  });

  it('never clears a standing instruction together with a passing one', () => {
    const passing = { ...system('now'), clear_at: 'next_user_message' };
    expect(arrange([user('a'), system('always'), passing])[1]).toEqual({
      role: 'system',
      content: [said('always'), said('now')],
    });
    const betas = ['mid-conversation-system-clear-at-2026-08-21'];
    expect(arrange([user('a'), system('always'), passing], { betas })[1]).not.toHaveProperty('clear_at');
    expect(arrange([user('a'), passing, passing], { betas })[1]).toMatchObject({ clear_at: 'next_user_message' });
  });

  it('moves a system message out of a pair of call and result', () => {
    const items = [user('a'), { role: 'assistant', content: [call('t1')] }, s, { role: 'user', content: [result('t1')] }];
    expect(rulesBrokenBy(arrange(items))).toEqual([]);
  });

  it('B041: results come first in the turn that user messages are merged into', () => {
    const mixed: AnthropicMessage = { role: 'user', content: [result('t2'), said('and this')] };
    const pure: AnthropicMessage = { role: 'user', content: [result('t1')] };
    const items = [user('a'), { role: 'assistant', content: [call('t1'), call('t2')] }, user('wait'), mixed, pure];
    const arranged = arrange(items);
    expect(arranged.slice(2)).toEqual([
      { role: 'user', content: [result('t2')] },
      pure,
      user('wait'),
      { role: 'user', content: [said('and this')] },
    ]);
    expect(arranged[3]).toBe(pure);
    expect(rulesBrokenBy(arranged)).toEqual([]);
  });

  it('B041: results come first in a message that mixes them', () => {
    const image = block({ type: 'image', source: { type: 'file', file_id: 'f' } });
    const items = [
      user('a'),
      { role: 'assistant', content: [call('t1'), call('t2')] },
      { role: 'user', content: [result('t1'), image, result('t2')] },
    ];
    expect(rulesBrokenBy(arrange(items))).toEqual([]);
  });

  it('takes a hundred thousand messages of one turn', () => {
    expect(arrange(Array.from({ length: 100_000 }, () => user('x')))).toHaveLength(100_000);
  });
});

describe('withSystem', () => {
  it('changes the system text alone', () => {
    const messages = [{ role: 'user', content: 'Hi' }];
    const request = { system: 'old', model: 'claude', messages };
    const changed = adapter.withSystem(request, 'new');
    expect(changed).toEqual({ system: 'new', model: 'claude', messages });
    expect(changed.messages).toBe(messages);
  });
});

describe('repairItem', () => {
  it('gives back the same object where nothing is wrong', () => {
    const items: AnthropicMessage[] = [
      { role: 'user', content: 'Hi' },
      { role: 'user', content: [result('t1'), said('Go on.')] },
      { role: 'assistant', content: [block({ type: 'thinking', thinking: '', signature: 'sealed' }), said('Hi'), call('t1')] },
      { role: 'system', content: 'Be brief.' },
      { role: 'assistant', content: [block({ type: 'compaction', content: 'Summary' })] },
    ];
    for (const item of items) expect(adapter.repairItem(item)).toBe(item);
  });

  it.each([
    { role: 'assistant', content: ' \n' },
    { role: 'assistant', content: [] },
    { role: 'assistant' },
    { role: 'user', content: [said(''), said(' ')] },
  ])('B039: nothing is left of %j', (item) => {
    expect(adapter.repairItem(item)).toBeUndefined();
  });

  it('drops blank text and keeps the other blocks as they are', () => {
    const kept = call('t1');
    const repaired = adapter.repairItem({ role: 'assistant', content: [said('\n'), kept] });
    expect(repaired).toEqual({ role: 'assistant', content: [kept] });
    expect(repaired?.content?.[0]).toBe(kept);
  });

  it.each(['', null, undefined])('B186: thinking with the signature %j is unsigned and goes', (signature) => {
    const thinking = block({ type: 'thinking', thinking: 'Hm.', signature });
    expect(adapter.repairItem({ role: 'assistant', content: [thinking, said('Hi')] })).toEqual({
      role: 'assistant',
      content: [said('Hi')],
    });
    expect(adapter.repairItem({ role: 'assistant', content: [thinking] })).toBeUndefined();
  });

  it.each([null, '', undefined])('B038: a compaction block with content %j never enters a request', (content) => {
    const repaired = adapter.repairItem({ role: 'assistant', content: [block({ type: 'compaction', content }), said('Hi')] });
    expect(repaired).toEqual({ role: 'assistant', content: [said('Hi')] });
  });

  it('B041: results come first, in their order', () => {
    const image = block({ type: 'image', source: { type: 'file', file_id: 'f' } });
    const repaired = adapter.repairItem({ role: 'user', content: [result('t1'), image, result('t2')] });
    expect(repaired?.content).toEqual([result('t1'), result('t2'), image]);
  });

  it('repairs what is inside a result', () => {
    const failed = block({ type: 'tool_result', tool_use_id: 't1', is_error: true, content: [said(' ')] });
    const blank = block({ type: 'tool_result', tool_use_id: 't2', content: [said('')] });
    const partly = block({ type: 'tool_result', tool_use_id: 't3', content: [said(''), said('x')] });
    const repaired = adapter.repairItem({ role: 'user', content: [failed, blank, partly] });
    expect(repaired?.content).toEqual([
      { type: 'tool_result', tool_use_id: 't1', is_error: true, content: expect.stringMatching(/\S/) },
      { type: 'tool_result', tool_use_id: 't2' },
      { type: 'tool_result', tool_use_id: 't3', content: [said('x')] },
    ]);
  });

  it('drops what is no block, and blocks of the other role', () => {
    expect(adapter.repairItem({ role: 'assistant', content: [null, result('t1'), said('Hi')] as never })?.content).toEqual([
      said('Hi'),
    ]);
    expect(adapter.repairItem({ role: 'user', content: [call('t1'), said('Hi')] })?.content).toEqual([said('Hi')]);
  });
});
