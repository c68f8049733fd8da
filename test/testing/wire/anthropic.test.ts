import { describe, expect, it } from 'vitest';
import { validateAnthropic } from '../../../src/testing/wire/anthropic.ts';

type Block = Record<string, unknown>;

const tools = [{ name: 'read', description: 'Reads a file.', input_schema: { type: 'object' } }];
const text = (value: string): Block => ({ type: 'text', text: value });
const call = (id: string): Block => ({ type: 'tool_use', id, name: 'read', input: { path: 'a.ts' } });
const result = (id: string): Block => ({ type: 'tool_result', tool_use_id: id, content: 'done' });
const search = (id: string): Block => ({ type: 'server_tool_use', id, name: 'web_search', input: { query: 'x' } });
const found = (id: string): Block => ({ type: 'web_search_tool_result', tool_use_id: id, content: [] });
const thought: Block = { type: 'thinking', thinking: 'Hm.', signature: 'sealed' };
const user = (...content: Block[]): Block => ({ role: 'user', content });
const assistant = (...content: Block[]): Block => ({ role: 'assistant', content });
const system = (...content: Block[]): Block => ({ role: 'system', content });

function body(messages: unknown[], more: Block = {}): Block {
  return { model: 'claude-sonnet-5', max_tokens: 4096, tools, messages, ...more };
}

const thinking = { type: 'enabled', budget_tokens: 2048 };
const marker = { cache_control: { type: 'ephemeral' } };
const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const summary: Block = { type: 'compaction', content: 'Summary', encrypted_content: null };

const valid: Record<string, unknown> = {
  'one question': body([{ role: 'user', content: 'Hello' }], { tools: undefined }),
  'a chat': body([{ role: 'user', content: 'Hello' }, { role: 'assistant', content: 'Hi ' }, user(text('Go on.'))]),
  'a tool turn with parallel calls': body([
    user(text('Go')),
    assistant(text('Reading.'), call('t1'), call('t2')),
    user(result('t2'), result('t1'), text('And hurry.')),
  ]),
  'results over two user messages': body([
    user(text('Go')),
    assistant(call('t1'), call('t2')),
    user(result('t1')),
    user(result('t2'), text('x')),
  ]),
  'results with media and an error': body([
    user(text('Go'), { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }),
    assistant(call('t1'), call('t2')),
    user(
      {
        type: 'tool_result',
        tool_use_id: 't1',
        content: [text('ok'), { type: 'image', source: { type: 'file', file_id: 'f' } }],
      },
      { type: 'tool_result', tool_use_id: 't2', is_error: true, content: 'no such file' },
    ),
  ]),
  'a result without content': body([user(text('Go')), assistant(call('t1')), user({ type: 'tool_result', tool_use_id: 't1' })]),
  'server tools': body([user(text('Go')), assistant(search('s1'), found('s1'), text('Found.')), user(text('More'))]),
  'a paused turn': body([user(text('Go')), assistant(text('Searching.'), search('s1'))]),
  'a tool of the client called from code': body([
    user(text('Go')),
    assistant(
      { type: 'server_tool_use', id: 's1', name: 'code_execution', input: {} },
      { ...call('t1'), caller: { type: 'code_execution_20260120', tool_id: 's1' } },
    ),
    user(result('t1')),
    assistant({ type: 'code_execution_tool_result', tool_use_id: 's1', content: {} }, text('Done.')),
    user(text('Thanks')),
  ]),
  'thinking in an open tool loop': body(
    [user(text('Go')), assistant(thought, call('t1')), user(result('t1')), assistant(call('t2')), user(result('t2'))],
    { thinking },
  ),
  'redacted thinking': body(
    [user(text('Go')), assistant({ type: 'redacted_thinking', data: 'x' }, call('t1')), user(result('t1'))],
    { thinking },
  ),
  'a finished tool loop without thinking': body(
    [user(text('Go')), assistant(call('t1')), user(result('t1')), assistant(text('Done.')), user(text('More'))],
    { thinking },
  ),
  'system messages': body([
    user(text('Go')),
    system(text('Be brief.')),
    assistant(call('t1')),
    user(result('t1')),
    system(text('Be briefer.')),
  ]),
  'a system message after server tools': body([
    user(text('Go')),
    assistant(search('s1'), found('s1')),
    system(text('Be brief.')),
    assistant(text('Done.')),
    user(text('More')),
  ]),
  'a system message of settings alone': body([user(text('Go')), { role: 'system', output_config: { effort: 'low' } }]),
  'a compaction block first': body([assistant(summary), user(text('Go on.'))]),
  'compaction blocks where the provider put them': body(
    [user(text('Go')), assistant(summary), user(text('More')), assistant(summary, text('Hi')), user(text('On'))],
    { context_management: { edits: [{ type: 'compact_20260112' }] } },
  ),
  'markers of an hour before those of five minutes': body([user({ ...text('Go'), ...marker })], {
    system: [{ ...text('You help.'), ...hour }],
    ...marker,
  }),
  'a chosen tool': body([user(text('Go'))], { tool_choice: { type: 'tool', name: 'read' } }),
  'more thinking than a reply can hold, between calls': body([user(text('Go'))], {
    thinking: { type: 'enabled', budget_tokens: 8192 },
    betas: ['interleaved-thinking-2025-05-14'],
  }),
  'thinking before words of another message': body([
    user(text('Go')),
    assistant(thought),
    assistant(text('Hi')),
    user(text('On')),
  ]),
  'four markers': body([user({ ...text('Go'), ...marker })], {
    system: [{ ...text('You help.'), ...marker }],
    tools: [{ ...tools[0], ...marker }],
    ...marker,
  }),
  'a well-formed pair of surrogates': body([user(text('😀'))]),
  'warming the cache': body([user(text('Go'))], { max_tokens: 0 }),
};

const broken: [rule: string, body: unknown][] = [
  ['invalid-body', null],
  ['invalid-body', { model: 'm', max_tokens: 1, messages: 'hello' }],
  ['model', body([user(text('Go'))], { model: undefined })],
  ['max-tokens', body([user(text('Go'))], { max_tokens: undefined })],
  ['unknown-level', body([user(text('Go'))], { output_config: { effort: 'minimal' } })],
  ['thinking-budget', body([user(text('Go'))], { thinking: { type: 'enabled', budget_tokens: 4096 } })],
  ['thinking-budget', body([user(text('Go'))], { thinking: { type: 'enabled', budget_tokens: 100 } })],
  ['tool-choice-without-tools', body([user(text('Go'))], { tools: undefined, tool_choice: { type: 'auto' } })],
  ['tools-missing', body([user(text('Go')), assistant(call('t1')), user(result('t1'))], { tools: [] })],
  [
    'cache-markers',
    body([
      user(...['1', '2', '3', '4'].map((value) => ({ ...text(value), ...marker })), {
        type: 'search_result',
        source: 's',
        title: 't',
        content: [{ ...text('5'), ...marker }],
      }),
    ]),
  ],
  ['cache-marker-order', body([user({ ...text('Go'), ...hour })], { tools: [{ ...tools[0], ...marker }] })],
  ['cache-marker-order', body([user({ ...text('Go'), ...marker })], hour)],
  [
    'cache-marker-order',
    body([user(text('Go')), assistant(call('t1')), user({ ...result('t1'), content: [{ ...text('ok'), ...marker }], ...hour })]),
  ],
  ['tool-choice-forced', body([user(text('Go'))], { thinking, tool_choice: { type: 'any' } })],
  ['tool-choice-forced', body([user(text('Go'))], { thinking, tool_choice: { type: 'tool', name: 'read' } })],
  ['tool-choice-unknown', body([user(text('Go'))], { tool_choice: { type: 'tool', name: 'write' } })],
  ['system-blank', body([user(text('Go'))], { system: [text('You help.'), text(' ')] })],
  ['ill-formed-string', body([user(text('broken \ud83d'))])],
  ['no-messages', body([])],
  ['too-many-messages', body(Array.from({ length: 100_001 }, () => ({ role: 'user', content: 'x' })))],
  ['message-role', body([user(text('Go')), { role: 'tool', content: 'x' }])],
  ['message-role', body([user(text('Go')), null])],
  ['content-empty', body([user(text('Go')), assistant(), user(text('More'))])],
  ['content-empty', body([user(text('Go')), { role: 'assistant', content: '' }, user(text('More'))])],
  ['text-blank', body([user(text('Go')), assistant(text(' \n')), user(text('More'))])],
  ['text-blank', body([user(text('Go')), assistant(call('t1')), user({ ...result('t1'), content: [text('')] })])],
  ['block-shape', body([user(text('Go'), { type: 'text' })])],
  ['block-shape', body([user(text('Go'), { type: 'image' })])],
  ['block-shape', body([{ role: 'user', content: [text('Go'), null] }])],
  ['first-message', body([assistant(text('Hi')), user(text('Go'))])],
  ['last-message', body([user(text('Go')), assistant(text('The answer is'))])],
  ['trailing-whitespace', body([user(text('Go')), assistant(search('s1'), found('s1'), text('Found: '))])],
  ['system-placement', body([system(text('Be brief.')), user(text('Go'))])],
  ['system-placement', body([user(text('Go')), system(text('Be brief.')), user(text('More'))])],
  [
    'system-placement',
    body([user(text('Go')), assistant(text('Hi')), system(text('Be brief.')), assistant(text('x')), user(text('y'))]),
  ],
  ['system-placement', body([user(text('Go')), assistant(call('t1')), system(text('Be brief.')), user(result('t1'))])],
  ['block-role', body([user(text('Go')), system({ type: 'image', source: { type: 'file', file_id: 'f' } })])],
  ['block-role', body([user(text('Go'), thought)])],
  ['block-role', body([user(text('Go'), found('s1'))])],
  ['tool-id', body([user(text('Go')), assistant(call('call|1')), user(result('call|1'))])],
  ['tool-id', body([user(text('Go')), assistant(call('x'.repeat(65))), user(result('x'.repeat(65)))])],
  ['tool-id-twice', body([user(text('Go')), assistant(call('t1'), call('t1')), user(result('t1'))])],
  [
    'tool-id-repeated',
    body([user(text('Go')), assistant(call('t1')), user(result('t1')), assistant(call('t1')), user(result('t1'))]),
  ],
  ['call-unanswered', body([user(text('Go')), assistant(call('t1'), call('t2')), user(result('t1'))])],
  ['call-unanswered', body([user(text('Go')), assistant(call('t1')), user(text('No.'))])],
  ['result-orphan', body([user(text('Go')), assistant(text('Hi')), user(result('t1'))])],
  ['result-orphan', body([user(result('t1'))])],
  ['result-twice', body([user(text('Go')), assistant(call('t1')), user(result('t1'), result('t1'))])],
  ['results-first', body([user(text('Go')), assistant(call('t1'), call('t2')), user(result('t1'), text('x'), result('t2'))])],
  ['results-first', body([user(text('Go')), assistant(call('t1')), user(text('x')), user(result('t1'))])],
  ['tool-input', body([user(text('Go')), assistant({ ...call('t1'), input: '{"a":' }), user(result('t1'))])],
  ['error-empty', body([user(text('Go')), assistant(call('t1')), user({ ...result('t1'), is_error: true, content: [] })])],
  ['server-call-unanswered', body([user(text('Go')), assistant(search('s1')), user(text('More'))])],
  ['server-result-orphan', body([user(text('Go')), assistant(found('s1'), text('Hi')), user(text('More'))])],
  ['thinking-signature', body([user(text('Go')), assistant({ ...thought, signature: '' }, text('Hi')), user(text('More'))])],
  [
    'thinking-signature',
    body([user(text('Go')), assistant({ type: 'thinking', thinking: 'Hm.' }, text('Hi')), user(text('More'))]),
  ],
  ['thinking-first', body([user(text('Go')), assistant(call('t1')), user(result('t1'))], { thinking })],
  ['thinking-last', body([user(text('Go')), assistant(text('Hi'), thought), user(text('More'))])],
  ['thinking-last', body([user(text('Go')), assistant({ type: 'redacted_thinking', data: 'x' }), user(text('More'))])],
  ['compaction-misplaced', body([user(text('Go')), assistant(summary), user(text('More'))])],
  ['compaction-misplaced', body([assistant(text('Hi'), summary), user(text('More'))])],
  ['compaction-twice', body([assistant(summary), user(text('Go')), assistant(summary), user(text('More'))])],
  ['compaction-empty', body([assistant({ type: 'compaction', content: null }), user(text('Go'))])],
];

describe('validateAnthropic', () => {
  it.each(Object.entries(valid))('takes %s', (_name, request) => {
    expect(validateAnthropic(request)).toEqual([]);
  });

  it.each(broken)('reports %s alone', (rule, request) => {
    expect(validateAnthropic(request).map((violation) => violation.rule)).toEqual([rule]);
  });

  it('says where a rule is broken', () => {
    const [violation] = validateAnthropic(body([user(text('Go')), assistant(text('Hi')), user(result('t1'))]));
    expect(violation?.path).toBe('messages[2].content[0]');
    expect(violation?.message).toContain('t1');
  });

  it('ends on a body that refers to itself', () => {
    const input: Block = {};
    input.self = input;
    expect(validateAnthropic(body([user(text('Go')), assistant({ ...call('t1'), input }), user(result('t1'))]))).toEqual([]);
  });
});
