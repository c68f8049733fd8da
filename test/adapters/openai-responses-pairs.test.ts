import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openaiResponses, type ResponsesItem } from '../../src/adapters/openai-responses.ts';
import { validateOpenAiResponses } from '../../src/testing/wire/openai-responses.ts';

const adapter = openaiResponses();

function pair(items: readonly object[], closeOpen = true): readonly ResponsesItem[] {
  const paired = adapter.pairItems?.(items, {
    closeOpen,
    missingResult: 'none',
    writeOrphan: ({ content }) => [{ type: 'text', text: 'Lost:' }, ...content],
  });
  if (!paired) throw new Error('Expected the adapter to pair items.');
  return paired;
}

const user = { role: 'user', content: 'Hello' };
const answer = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [said('Fine.')] };
const thought = (id: string) => ({ type: 'reasoning', id: `rs_${id}`, summary: [], encrypted_content: 'gAAA' });
const call = (id: string) => ({ type: 'function_call', id: `fc_${id}`, call_id: id, name: 'look', arguments: '{}' });
const result = (id: string, output = 'seen') => ({ type: 'function_call_output', call_id: id, output });
const query = (id: string) => ({ type: 'custom_tool_call', call_id: id, name: 'sql', input: 'SELECT 1' });
const row = (id: string) => ({ type: 'custom_tool_call_output', call_id: id, output: 'one row' });
const shell = (id: string) => ({ type: 'shell_call', call_id: id, action: { commands: ['ls'] } });
const shellOutput = (id: string) => ({ type: 'shell_call_output', call_id: id, output: [] });
const handoff = { type: 'function_call_output', name: 'handoff', output: 'to you' };
const lost = {
  type: 'message',
  role: 'user',
  content: [
    { type: 'input_text', text: 'Lost:' },
    { type: 'input_text', text: 'seen' },
  ],
};

function said(text: string) {
  return { type: 'output_text', text, annotations: [] };
}

describe('pairItems', () => {
  it.each<[string, object[]]>([
    ['calls made in parallel', [user, thought('1'), call('a'), call('b'), result('a'), result('b'), answer]],
    ['results in another order, far behind', [user, call('a'), call('b'), result('b'), user, result('a')]],
    [
      'reasoning before each of several calls',
      [user, thought('1'), call('a'), thought('2'), call('b'), result('a'), result('b')],
    ],
    ['several thoughts in a row', [user, thought('1'), thought('2'), call('a'), result('a')]],
    ['an id that is used again', [user, call('a'), result('a'), withoutId(call('a')), result('a')]],
    ['other kinds of calls', [user, query('a'), shell('a'), row('a'), shellOutput('a')]],
    ['tools of the provider', [user, thought('1'), { type: 'web_search_call', id: 'ws_1' }, answer]],
    ['a hand-off without a call', [user, handoff, answer, user, handoff]], // B020
    ['items that only the server knows', [user, { id: 'rs_9' }, { id: 'fc_9' }, result('held by the server'), user]],
    ['compaction of the provider', [{ type: 'compaction', encrypted_content: 'gAAA' }, user, answer]],
    ['nothing', []],
  ])('are the very same array with %s', (_name, items) => {
    expect(pair(items)).toBe(items);
    expect(pair(items, false)).toBe(items);
  });

  it('B002: answers a call that was never answered, behind the turn that it belongs to', () => {
    const items = [user, thought('1'), call('a'), query('b'), call('c'), result('c'), user];
    const paired = pair(items, false);
    expect(paired).toEqual([...items.slice(0, 5), result('a', 'none'), { ...row('b'), output: 'none' }, ...items.slice(5)]);
    expect(validateOpenAiResponses({ model: 'm', input: paired })).toEqual([]);
  });

  it('leaves calls open that wait at the end, unless the conversation is over', () => {
    const items = [user, call('a'), thought('1'), call('b'), result('b')];
    expect(pair(items, false)).toBe(items);
    expect(pair(items)).toEqual([...items.slice(0, 4), result('a', 'none'), result('b')]);
    const waiting = [user, thought('1'), shell('a')];
    expect(pair(waiting, false)).toBe(waiting);
    expect(pair(waiting)).toEqual([user]); // nobody can answer for that tool
  });

  it('B005: keeps what a result says whose call is missing, and only one result of a call', () => {
    expect(pair([user, result('a'), answer, user])).toEqual([user, lost, answer, user]);
    expect(pair([user, call('a'), result('a'), result('a'), user])).toEqual([user, call('a'), result('a'), lost, user]);
    expect(pair([result('a'), user, call('a'), result('a')])).toEqual([lost, user, call('a'), result('a')]);
    expect(pair([user, shellOutput('a'), user])).toEqual([user, user]);
    expect(pair([user, { type: 'mcp_approval_response', approval_request_id: 'q', approve: true }])).toEqual([user]);
    expect(pair([user, { type: 'local_shell_call_output', id: 'a', output: '' }])).toEqual([user]);
  });

  it('puts what a lost result says in front of a turn that still waits', () => {
    const items = [user, thought('1'), call('a'), call('b'), result('b'), result('x')];
    const paired = pair(items, false);
    expect(paired).toEqual([user, lost, ...items.slice(1, 5)]);
    expect(pair([...paired, result('a')], false)).toEqual([...paired, result('a')]);
  });

  it('B021: leaves out reasoning without the item that it led to', () => {
    expect(pair([user, thought('1'), user, thought('2'), call('a'), result('a')])).toEqual([
      user,
      user,
      thought('2'),
      call('a'),
      result('a'),
    ]);
    expect(pair([user, call('a'), thought('1'), result('a'), answer])).toEqual([user, call('a'), result('a'), answer]);
    expect(pair([user, thought('1'), thought('2')])).toEqual([user]);
    expect(pair([user, thought('1')], false)).toEqual([user, thought('1')]); // what it leads to may still come
  });

  it('B184: leaves out the server id of what was cut off, and the reasoning that goes with it', () => {
    const cut = { ...answer, status: 'in_progress' };
    expect(pair([user, thought('1'), cut, user])).toEqual([
      user,
      { type: 'message', role: 'assistant', content: answer.content },
      user,
    ]);
    expect(pair([user, { ...thought('1'), status: 'in_progress' }, user])).toEqual([user, user]);
  });

  it('keeps what was stored twice once, or without the id that the provider would refuse', () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
    const unnamed = { type: 'message', role: 'assistant', content: answer.content };
    const turn = [user, thought('1'), call('a'), result('a'), search, thought('2'), answer];
    expect(pair([...turn, user, ...turn.slice(1), user])).toEqual([
      ...turn,
      user,
      withoutId(call('a')),
      result('a'),
      unnamed,
      user,
    ]);
    // The one that leads to something stays.
    expect(pair([user, thought('1'), user, thought('1'), answer, user])).toEqual([user, user, thought('1'), answer, user]);
    expect(pair([user, search, user, thought('1'), search, user])).toEqual([user, search, user, user]);
  });

  it('does not care how many calls there are', () => {
    const ids = Array.from({ length: 100_000 }, (_, index) => String(index));
    expect(pair([user, ...ids.map(call), user])).toHaveLength(200_002);
    expect(pair([user, ...ids.map(thought), answer, user])).toHaveLength(100_003);
    const same = [user, ...ids.map(() => withoutId(call('a'))), ...ids.map(() => result('a'))];
    expect(pair(same)).toBe(same);
  });

  it('the property: any history comes out legal, in its order, with nothing new but answers', () => {
    const id = fc.constantFrom('a', 'b', 'c');
    const item = fc.oneof(
      fc.constant<object>(user),
      fc.constant<object>({ role: 'developer', content: 'Mind the time.' }),
      fc.constant<object>(handoff),
      fc.constant<object>({ role: 'assistant', content: 'Fine.' }),
      id.map((value): object => ({ type: 'web_search_call', id: `ws_${value}`, status: 'completed' })),
      id.map((): object => ({ ...answer })),
      ...[call, result, query, row, shell, shellOutput, thought].map((make) => id.map((value): object => make(value))),
    );
    fc.assert(
      fc.property(fc.array(item, { maxLength: 14 }), fc.boolean(), (items, closeOpen) => {
        const paired = pair([user, ...items], closeOpen);
        const request = { model: 'm', input: [...paired, ...(closeOpen ? [user] : [])] };
        const allowed = closeOpen ? [] : ['unanswered-call', 'reasoning-alone', 'last-message'];
        expect(validateOpenAiResponses(request).filter(({ rule }) => !allowed.includes(rule))).toEqual([]);
        const before = [user, ...items];
        const kept = paired.filter((one) => before.includes(one as never));
        expect(kept).toEqual(before.filter((one) => kept.includes(one as never)));
        // A second look finds nothing more.
        expect(pair(paired, closeOpen)).toBe(paired);
      }),
      { numRuns: 2000 },
    );
  });
});

function withoutId({ ...item }: Record<string, unknown>): object {
  delete item.id;
  return item;
}
