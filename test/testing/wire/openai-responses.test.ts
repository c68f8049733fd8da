import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateOpenAiResponses } from '../../../src/testing/wire/openai-responses.ts';

type Fields = Record<string, unknown>;

const user = { role: 'user', content: 'Hello' };
const tool = { type: 'function', name: 'look', parameters: {} };
const body = (input: unknown, fields: Fields = {}): Fields => ({ model: 'gpt-5', input, ...fields });
const parts = (role: string, ...content: unknown[]): Fields => ({ role, content });
const call = (id: unknown, fields: Fields = {}): Fields => ({
  type: 'function_call',
  call_id: id,
  name: 'look',
  arguments: '{}',
  ...fields,
});
const result = (id: unknown, fields: Fields = {}): Fields => ({
  type: 'function_call_output',
  call_id: id,
  output: 'seen',
  ...fields,
});
const thought = (fields: Fields = {}): Fields => ({ type: 'reasoning', id: 'rs_1', summary: [], ...fields });
const said = (text: string, fields: Fields = {}): Fields => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...fields,
});
const approval = (id: string): Fields => ({ type: 'mcp_approval_request', id, name: 'send', arguments: '{}' });
const approved = (id: string): Fields => ({ type: 'mcp_approval_response', approval_request_id: id, approve: true });
const compaction = { type: 'compaction', encrypted_content: 'gAAA' };

const legal: readonly (readonly [string, unknown])[] = [
  ['a question', body([user])],
  ['a question as text', body('Hello', { instructions: 'Be exact.' })],
  [
    'instructions anywhere',
    body([{ role: 'developer', content: 'a' }, user, parts('system', { type: 'input_text', text: 'b' })]),
  ],
  ['the next turn of a stored response', body([result('a')], { previous_response_id: 'resp_1' })],
  ['nothing but a stored response', { model: 'gpt-5', previous_response_id: 'resp_1' }],
  ['nothing but a prompt template', { prompt: { id: 'pmpt_1' } }],
  [
    'everything a user may send',
    body([
      parts(
        'user',
        { type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
        { type: 'input_image', detail: 'low', image_url: 'https://example.org/a.png' },
        { type: 'input_image', detail: 'auto', file_id: 'file-1' },
        { type: 'input_file', file_url: 'https://example.org/a.pdf' },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      ),
    ]),
  ],
  [
    'what the model put out',
    body([user, thought(), said(''), user, said('Fine.', { id: 'msg_2', phase: 'final_answer' }), user]),
  ],
  ['calls made in parallel', body([user, thought(), call('a'), call('b'), result('b'), result('a', { output: '' })])],
  ['results far behind', body([user, call('a'), user, result('a')])],
  ['an id that is used again', body([user, call('a'), result('a'), call('a'), result('a')])],
  ['a result of several parts', body([user, call('a'), result('a', { output: [{ type: 'input_text', text: 'x' }] })])],
  [
    'a custom tool',
    body([
      user,
      { type: 'custom_tool_call', call_id: 'a', name: 'sql', input: '' },
      { type: 'custom_tool_call_output', call_id: 'a', output: 'one row' },
    ]),
  ],
  ['a hand-off', body([user, { type: 'function_call_output', name: 'handoff', output: 'to you' }])],
  [
    'a local shell',
    body([user, { type: 'local_shell_call', call_id: 'a' }, { type: 'local_shell_call_output', id: 'a', output: '' }]),
  ],
  [
    'tools of the provider',
    body([
      user,
      thought(),
      { type: 'web_search_call', id: 'ws_1' },
      { type: 'tool_search_call', call_id: 't', execution: 'server' },
      { type: 'mcp_call', id: 'mcp_1', output: 'x' },
      user,
    ]),
  ],
  ['compaction of the provider', body([compaction, user])],
  ['a question to the user, answered or not', body([user, approval('p'), user, approval('q'), approved('q')])],
  ['a trigger of compaction', body([user, { type: 'compaction_trigger' }])],
  ['references', body([{ id: 'msg_1' }, { type: 'item_reference', id: 'fc_1' }, result('held'), call('open')])],
  ['items that nobody knows', body([{ type: 'configuration_update', effort: 'low' }, user, { type: 'foo_call', id: 'f' }, user])],
  ['tools and a choice among them', body([user], { tools: [tool], tool_choice: { type: 'function', name: 'look' } })],
  ['no tools, and the default choice', body([user], { tools: [], tool_choice: 'auto' })],
  ['a tool of the provider, chosen', body([user], { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } })],
  [
    'sealed reasoning of which nothing is stored',
    body(
      [user, { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }, { role: 'assistant', content: 'Hi' }, user],
      { store: false },
    ),
  ],
  ['a private request', body([user], { store: false, max_output_tokens: 16, tools: [tool], tool_choice: 'none' })],
];

const illegal: readonly (readonly [rule: string, path: string, body: unknown])[] = [
  ['body', '', null],
  ['body', '', []],
  ['model', 'model', { input: 'Hello' }],
  ['model', 'model', { model: '', input: 'Hello' }],
  ['instructions-type', 'instructions', body([user], { instructions: [user] })],
  ['output-cap', 'max_output_tokens', body([user], { max_output_tokens: 15 })],
  ['output-cap', 'max_output_tokens', body([user], { max_output_tokens: 20.5 })],
  ['unknown-level', 'reasoning.effort', body([user], { reasoning: { effort: 'tremendous' } })],
  ['unknown-level', 'text.verbosity', body([user], { text: { verbosity: 'max' } })],
  ['two-histories', 'conversation', body([user], { conversation: 'conv_1', previous_response_id: 'resp_1' })],
  ['item-reference', 'input[0]', body([{ type: 'item_reference', id: 'msg_1' }, user], { store: false })],
  [
    'reasoning-unsealed',
    'input[1].encrypted_content',
    body([user, { type: 'reasoning', id: 'rs_1', summary: [] }, { role: 'assistant', content: 'Hi' }, user], { store: false }),
  ],
  ['background-unstored', 'background', body([user], { background: true, store: false })],
  ['input-missing', 'input', { model: 'gpt-5' }],
  ['input-type', 'input', body({})],
  ['input-empty', 'input', body([])],
  ['blank-content', 'input', body(' \n')],
  ['item-type', 'input[0]', body([null, user])],
  ['item-type', 'input[1]', body([user, { content: 'x' }])],
  ['item-type', 'input[1]', body([user, { type: 5 }])],
  ['unknown-role', 'input[0].role', body([{ role: 'tool', content: 'x' }, user])],
  ['content-type', 'input[0].content', body([{ role: 'user' }])],
  ['content-empty', 'input[0].content', body([{ role: 'user', content: [] }])],
  ['blank-content', 'input[0].content', body([{ role: 'user', content: ' ' }])],
  ['blank-content', 'input[0].content[0]', body([parts('user', { type: 'input_text', text: '' })])],
  ['blank-content', 'input[1].content[0]', body([user, parts('assistant', { type: 'output_text', text: ' ' }), user])],
  ['part-type', 'input[0].content[0]', body([parts('user', 'Hello')])],
  ['part-not-allowed', 'input[0].content[0]', body([parts('user', { type: 'output_text', text: 'x' })])],
  ['part-not-allowed', 'input[1].content[0]', body([user, parts('assistant', { type: 'input_text', text: 'x' }), user])],
  ['part-not-allowed', 'input[0].content[0]', body([parts('user', { type: 'text', text: 'x' })])],
  ['part-field', 'input[0].content[0]', body([parts('user', { type: 'input_text' })])],
  ['part-field', 'input[0].content[0]', body([parts('user', { type: 'input_image', detail: 'low' })])],
  ['part-field', 'input[0].content[0]', body([parts('user', { type: 'input_file', filename: 'a.pdf' })])],
  ['phase', 'input[0].phase', body([{ ...user, phase: 'commentary' }])],
  ['phase', 'input[1].phase', body([user, said('x', { phase: 'thinking' }), user])],
  ['unknown-field', 'input[1].parsed_arguments', body([user, call('a', { parsed_arguments: {} }), result('a')])],
  ['unknown-field', 'input[1].created_by', body([user, call('a', { created_by: 'me' }), result('a')])],
  [
    'unknown-field',
    'input[1].content[0].parsed',
    body([user, said('x', { content: [{ type: 'output_text', text: 'x', parsed: {} }] }), user]),
  ],
  ['item-id', 'input[1].id', body([user, call('a', { id: 'call_a' }), result('a')])],
  ['item-id', 'input[1].id', body([user, thought({ id: 'msg_1' }), said('x', { id: 'msg_2' }), user])],
  ['item-id', 'input[1].id', body([user, said('x', { id: 'm'.repeat(65) }), user])],
  ['duplicate-item-id', 'input[2].id', body([user, said('x'), said('y'), user])],
  ['item-field', 'input[1].call_id', body([user, call('')])],
  ['call-id-long', 'input[1].call_id', body([user, call('c'.repeat(65)), result('c'.repeat(65))])],
  ['item-field', 'input[1].name', body([user, call('a', { name: '' }), result('a')])],
  ['item-field', 'input[1].arguments', body([user, call('a', { arguments: {} }), result('a')])],
  ['item-field', 'input[1].call_id', body([user, result(undefined)])],
  ['item-field', 'input[0].encrypted_content', body([{ type: 'compaction', encrypted_content: null }, user])],
  ['output-type', 'input[2].output', body([user, call('a'), result('a', { output: null })])],
  ['part-not-allowed', 'input[2].output[0]', body([user, call('a'), result('a', { output: [{ type: 'text', text: 'x' }] })])],
  ['reasoning-summary', 'input[1].summary', body([user, thought({ summary: undefined }), said('x'), user])],
  ['reasoning-alone', 'input[1]', body([user, thought()])], // B021
  ['reasoning-alone', 'input[1]', body([user, thought(), user])],
  ['reasoning-alone', 'input[2]', body([user, call('a'), thought(), result('a')])],
  ['unanswered-call', 'input[2]', body([user, call('a'), call('b'), result('a'), user])], // B002
  ['unanswered-call', 'input[1]', body([user, { type: 'computer_call', call_id: 'a' }, user])],
  ['orphan-output', 'input[1]', body([user, result('a')])],
  ['orphan-output', 'input[0]', body([result('a'), user])],
  ['orphan-output', 'input[1]', body([user, approved('q')])],
  ['duplicate-output', 'input[3]', body([user, call('a'), result('a'), result('a')])],
  ['trigger-not-last', 'input[1]', body([user, { type: 'compaction_trigger' }, user])],
  ['no-user-message', 'input', body([{ role: 'developer', content: 'x' }])], // B031
  ['last-message', 'input[1]', body([user, said('x')])], // B033
  ['last-message', 'input[1]', body([user, said('x'), { role: 'developer', content: 'x' }])],
  ['tools-type', 'tools', body([user], { tools: {} })],
  ['tool-type', 'tools[0]', body([user], { tools: [{ name: 'look' }] })],
  ['tool-name', 'tools[0].name', body([user], { tools: [{ type: 'function', function: { name: 'look' } }] })],
  ['choice-without-tools', 'tool_choice', body([user], { tool_choice: 'none' })],
  ['choice-unknown', 'tool_choice', body([user], { tools: [tool], tool_choice: { type: 'function', name: 'hear' } })],
  ['choice-unknown', 'tool_choice', body([user], { tools: [tool], tool_choice: 'any' })],
  ['ill-formed-string', 'input[0].content', body([{ role: 'user', content: 'a\ud800' }])], // B138
  ['ill-formed-string', 'instructions', body([user], { instructions: '\udc00' })],
];

describe('validateOpenAiResponses', () => {
  it.each(legal)('finds nothing wrong with %s', (_name, legalBody) => {
    expect(validateOpenAiResponses(legalBody)).toEqual([]);
  });

  it.each(illegal)('reports %s at %j', (rule, path, illegalBody) => {
    const violations = validateOpenAiResponses(illegalBody);
    expect(violations.map((violation) => [violation.rule, violation.path])).toContainEqual([rule, path]);
    for (const { message } of violations) expect(message).toMatch(/^Expected /);
  });

  it('tells ids apart however alike they begin', () => {
    const long = 'x'.repeat(60);
    const violations = validateOpenAiResponses(body([user, call(`${long}1`), result(`${long}2`)]));
    expect(violations.map(({ rule }) => rule).sort()).toEqual(['orphan-output', 'unanswered-call']);
  });

  it('never throws, whatever it is given', () => {
    const item = fc.dictionary(fc.constantFrom('type', 'role', 'content', 'call_id', 'output', 'summary', 'id'), fc.jsonValue());
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), fc.record({ model: fc.string(), input: fc.array(item), tools: fc.jsonValue() })),
        (any) => {
          expect(validateOpenAiResponses(any)).toBeInstanceOf(Array);
        },
      ),
    );
  });

  it('is linear in the number of items', () => {
    const many = Array.from({ length: 50_000 }, (_, index) => thought({ id: `rs_${index}` }));
    const calls = many.map(() => call('a'));
    expect(validateOpenAiResponses(body([user, ...many, ...calls, ...calls.map(() => result('a'))]))).toEqual([]);
  });
});
