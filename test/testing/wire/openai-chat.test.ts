import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateOpenAiChat } from '../../../src/testing/wire/openai-chat.ts';

type Fields = Record<string, unknown>;

const user = { role: 'user', content: 'Hello' };
const tool = { type: 'function', function: { name: 'look' } };
const call = (id: string, fields: Fields = {}): Fields => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: '{}' },
  ...fields,
});
const calling = (...calls: unknown[]): Fields => ({ role: 'assistant', tool_calls: calls });
const result = (id: string, fields: Fields = {}): Fields => ({ role: 'tool', tool_call_id: id, content: 'seen', ...fields });
const calledFunction: Fields = { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } };
const body = (messages: readonly unknown[], fields: Fields = {}): Fields => ({ model: 'gpt-5', messages, ...fields });
const parts = (role: string, ...content: unknown[]): Fields => ({ role, content });

const legal: readonly (readonly [string, Fields])[] = [
  ['a question', body([user])],
  [
    'instructions anywhere',
    body([{ role: 'developer', content: 'a' }, user, { role: 'system', content: [{ type: 'text', text: 'b' }] }]),
  ],
  [
    'turns that do not alternate',
    body([user, user, { role: 'assistant', content: 'a' }, { role: 'assistant', content: 'b' }, user]),
  ],
  [
    'everything a user may send',
    body([
      parts(
        'user',
        { type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
        { type: 'image_url', image_url: { url: 'https://example.org/a.png', detail: 'low' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        { type: 'file', file: { file_id: 'file-1' } },
        { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' } },
      ),
    ]),
  ],
  [
    'parallel calls, answered in another order',
    body([user, calling(call('a'), call('b')), result('b'), result('a')], { tools: [tool] }),
  ],
  ['ids used again later', body([user, calling(call('a')), result('a'), calling(call('a')), result('a', { content: '' })])],
  ['results of several parts', body([user, calling(call('a')), result('a', { content: [{ type: 'text', text: 'x' }] })])],
  ['text beside calls', body([user, { ...calling(call('a')), content: 'Looking.' }, result('a')])],
  [
    'nothing said beside calls',
    body([user, { ...calling(call('a')), content: '' }, result('a'), { ...calling(call('a')), content: null }, result('a')]),
  ],
  [
    'calls of custom tools',
    body([user, calling({ id: 'a', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }), result('a')]),
  ],
  ['broken JSON as arguments', body([user, calling(call('a', { function: { name: 'look', arguments: '{"' } })), result('a')])],
  [
    'legacy functions',
    body([user, calledFunction, { role: 'function', name: 'f', content: 'x' }], {
      functions: [{ name: 'f' }],
      function_call: 'auto',
    }),
  ],
  [
    'a refusal',
    body([
      user,
      { role: 'assistant', content: null, refusal: 'No.' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      user,
    ]),
  ],
  ['spoken words', body([user, { role: 'assistant', audio: { id: 'audio_1' } }, user])],
  [
    'a reply pushed back as it came',
    body([
      user,
      {
        role: 'assistant',
        content: 'x',
        refusal: null,
        annotations: [],
        audio: null,
        function_call: null,
        reasoning_content: 'y',
      },
      user,
    ]),
  ],
  [
    'tools and each choice',
    body([user], {
      tools: [tool, { type: 'custom', custom: { name: 'sql' } }, { type: 'web_search' }],
      tool_choice: { type: 'custom', custom: { name: 'sql' } },
    }),
  ],
  ['a named function', body([user], { tools: [tool], tool_choice: { type: 'function', function: { name: 'look' } } })],
  [
    'tools to choose among',
    body([user], { tools: [tool], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } } }),
  ],
  ['calls one after another', body([user], { tools: [tool], parallel_tool_calls: false })],
  ['the longest id of a call', body([user, calling(call('x'.repeat(40))), result('x'.repeat(40))])],
  ['no tools allowed', body([user], { tools: [tool], tool_choice: 'none' })],
  [
    'output caps and unknown parameters',
    body([user], { max_completion_tokens: 1, max_tokens: null, stream: true, foo: { bar: 1 } }),
  ],
  ['any well-formed text', body([{ role: 'user', content: '\u{1f600}\u0000\ufffd' }])],
];

/** One body for each rule, which breaks that rule and no other. */
const illegal: readonly (readonly [rule: string, path: string, unknown])[] = [
  ['body', '', 'text'],
  ['body', '', null],
  ['body', '', []],
  ['model', 'model', { messages: [user] }],
  ['model', 'model', { model: '', messages: [user] }],
  ['output-cap', 'max_tokens', body([user], { max_tokens: 0 })],
  ['output-cap', 'max_completion_tokens', body([user], { max_completion_tokens: 1.5 })],
  ['output-cap', 'max_completion_tokens', body([user], { max_completion_tokens: '9' })],
  ['unknown-level', 'reasoning_effort', body([user], { reasoning_effort: 'tremendous' })],
  ['unknown-level', 'verbosity', body([user], { verbosity: 'max' })],
  ['messages-type', 'messages', { model: 'm' }],
  ['messages-empty', 'messages', body([])],
  ['message-type', 'messages[1]', body([user, null])],
  ['message-type', 'messages[1]', body([user, 'text'])],
  ['unknown-role', 'messages[1].role', body([user, { role: 'critic', content: 'x' }])],
  ['unknown-role', 'messages[1].role', body([user, { content: 'x' }])],
  ['no-user-message', 'messages', body([{ role: 'system', content: 'x' }])], // B031
  ['last-message', 'messages', body([user, { role: 'assistant', content: 'x' }])], // B033
  ['last-message', 'messages', body([user, { role: 'assistant', content: 'x' }, { role: 'system', content: 'y' }])],
  ['content-missing', 'messages[0].content', body([{ role: 'user' }])],
  ['content-missing', 'messages[1].content', body([user, { role: 'assistant', content: null }, user])],
  ['content-missing', 'messages[2].content', body([user, calling(call('a')), result('a', { content: null })])],
  ['content-type', 'messages[0].content', body([{ role: 'user', content: 7 }])],
  [
    'content-type',
    'messages[2].content',
    body([user, calledFunction, { role: 'function', name: 'f', content: [{ type: 'text', text: 'x' }] }]),
  ],
  ['content-empty', 'messages[0].content', body([{ role: 'user', content: [] }])],
  ['content-empty', 'messages[1].content', body([user, { ...calling(call('a')), content: [] }, result('a')])],
  ['blank-content', 'messages[0].content', body([{ role: 'user', content: ' \n' }])],
  ['blank-content', 'messages[1].content', body([user, { role: 'assistant', content: '' }, user])], // B039
  ['blank-content', 'messages[1].content', body([user, { ...calling(call('a')), content: '\n' }, result('a')])],
  [
    'blank-content',
    'messages[0].content[1].text',
    body([parts('user', { type: 'text', text: 'x' }, { type: 'text', text: '' })]),
  ],
  ['part-type', 'messages[0].content[0]', body([parts('user', 'text')])],
  ['part-type', 'messages[0].content[0]', body([parts('user', { text: 'x' })])],
  ['part-field', 'messages[0].content[0].text', body([parts('user', { type: 'text' })])],
  ['part-field', 'messages[0].content[0].image_url.url', body([parts('user', { type: 'image_url', image_url: {} })])],
  [
    'part-field',
    'messages[0].content[0].input_audio.format',
    body([parts('user', { type: 'input_audio', input_audio: { data: 'AAAA' } })]),
  ],
  ['part-field', 'messages[0].content[0].file.file_data', body([parts('user', { type: 'file', file: { filename: 'a.pdf' } })])],
  ...(['system', 'developer', 'assistant'] as const).map(
    (role) =>
      [
        'part-not-allowed',
        'messages[1].content[0]',
        body([user, parts(role, { type: 'image_url', image_url: { url: 'https://example.org/a.png' } }), user]),
      ] as const,
  ),
  [
    'part-not-allowed',
    'messages[2].content[0]',
    body([user, calling(call('a')), result('a', { content: [{ type: 'image_url', image_url: { url: 'x' } }] })]),
  ],
  ['part-not-allowed', 'messages[0].content[0]', body([parts('user', { type: 'refusal', refusal: 'No.' })])],
  ['part-not-allowed', 'messages[0].content[0]', body([parts('user', { name: 'bob', type: 'name' })])],
  ['calls-not-allowed', 'messages[0].tool_calls', body([{ ...user, tool_calls: [call('a')] }])],
  ['tool-calls-type', 'messages[1].tool_calls', body([user, { role: 'assistant', content: 'x', tool_calls: null }, user])],
  ['tool-calls-empty', 'messages[1].tool_calls', body([user, { role: 'assistant', content: 'x', tool_calls: [] }, user])],
  ['tool-call-field', 'messages[1].tool_calls[0]', body([user, calling(null), user])],
  ['tool-call-field', 'messages[1].tool_calls[0].id', body([user, calling(call('')), user])],
  ['tool-call-field', 'messages[1].tool_calls[0].type', body([user, calling(call('a', { type: undefined })), result('a')])],
  [
    'tool-call-field',
    'messages[1].tool_calls[0].function.name',
    body([user, calling(call('a', { function: { arguments: '{}' } })), result('a')]),
  ],
  [
    'tool-call-field',
    'messages[1].tool_calls[0].function.arguments',
    body([user, calling(call('a', { function: { name: 'f', arguments: {} } })), result('a')]),
  ],
  [
    'tool-call-field',
    'messages[1].tool_calls[0].custom.input',
    body([user, calling({ id: 'a', type: 'custom', custom: { name: 'f' } }), result('a')]),
  ],
  [
    'tool-call-field',
    'messages[1].function_call.arguments',
    body([user, { role: 'assistant', function_call: { name: 'f' } }, user]),
  ],
  ['duplicate-call-id', 'messages[1].tool_calls[1].id', body([user, calling(call('a'), call('a')), result('a')])],
  ['unanswered-call', 'messages[1].tool_calls[1]', body([user, calling(call('a'), call('b')), result('a'), user])], // B002
  ['unanswered-call', 'messages[1].tool_calls[0]', body([user, calling(call('a')), user])],
  ['unanswered-call', 'messages[1].tool_calls[1]', body([user, calling(call('a'), call('b')), result('a')])],
  ['orphan-tool-message', 'messages[1]', body([user, result('a')])],
  ['orphan-tool-message', 'messages[0]', body([result('a'), user])], // B010
  ['orphan-tool-message', 'messages[4]', body([user, calling(call('a')), result('a'), user, result('a')])],
  ['duplicate-tool-message', 'messages[3]', body([user, calling(call('a')), result('a'), result('a')])],
  ['tool-call-id', 'messages[1].tool_call_id', body([user, { role: 'tool', content: 'x' }])], // B005
  ['function-name', 'messages[2].name', body([user, calledFunction, { role: 'function', content: 'x' }])],
  ['orphan-function-message', 'messages[1]', body([user, { role: 'function', name: 'f', content: 'x' }])],
  ['orphan-function-message', 'messages[2]', body([user, calledFunction, { role: 'function', name: 'g', content: 'x' }])],
  [
    'orphan-function-message',
    'messages[3]',
    body([user, calledFunction, { role: 'function', name: 'f', content: 'x' }, { role: 'function', name: 'f', content: 'y' }]),
  ],
  ['call-id-long', 'messages[1].tool_calls[0].id', body([user, calling(call('x'.repeat(41))), result('x'.repeat(41))])],
  ['tools-type', 'tools', body([user], { tools: {} })],
  ['tools-empty', 'tools', body([user], { tools: [] })],
  ['tools-empty', 'functions', body([user], { functions: [] })],
  ['tool-name', 'tools[0]', body([user], { tools: [{ type: 'function', function: {} }] })],
  ['tool-name', 'functions[0]', body([user], { functions: [{}] })],
  ['choice-without-tools', 'tool_choice', body([user], { tool_choice: 'none' })],
  ['parallel-without-tools', 'parallel_tool_calls', body([user], { parallel_tool_calls: false })],
  ['choice-without-tools', 'function_call', body([user], { function_call: 'none' })],
  ['choice-unknown', 'tool_choice', body([user], { tools: [tool], tool_choice: 'maybe' })],
  [
    'choice-unknown',
    'tool_choice',
    body([user], { tools: [tool], tool_choice: { type: 'function', function: { name: 'other' } } }),
  ],
  ['ill-formed-string', 'messages[0].content', body([{ role: 'user', content: 'a\ud800' }])],
  [
    'ill-formed-string',
    'messages[1].tool_calls[0].function.arguments',
    body([user, calling(call('a', { function: { name: 'f', arguments: '\udc00' } })), result('a')]),
  ],
  ['ill-formed-string', 'metadata.key', body([user], { metadata: { key: '\ud83d' } })],
];

describe('validateOpenAiChat', () => {
  it.each(legal)('takes %s', (_name, request) => {
    expect(validateOpenAiChat(request)).toEqual([]);
    expect(validateOpenAiChat(JSON.parse(JSON.stringify(request)))).toEqual([]);
  });

  it.each(illegal)('reports %s at %s', (rule, path, request) => {
    expect(validateOpenAiChat(request)).toEqual([{ rule, path, message: expect.stringMatching(/^Expected .+\.$/) }]);
  });

  it('reports keys that are ill-formed', () => {
    expect(validateOpenAiChat(body([user], { 'a\ud800': 1 }))).toMatchObject([{ rule: 'ill-formed-string' }]);
  });

  it('reports the call and the result that an unrelated message keeps apart', () => {
    const request = body([user, calling(call('a')), user, result('a')]);
    expect(validateOpenAiChat(request).map(({ rule, path }) => [rule, path])).toEqual([
      ['unanswered-call', 'messages[1].tool_calls[0]'],
      ['orphan-tool-message', 'messages[3]'],
    ]);
  });

  it('reads any body without a throw', () => {
    const cycle: Fields = body([user]);
    cycle.self = cycle;
    expect(validateOpenAiChat(cycle)).toEqual([]);
    const value = fc.anything();
    const message = fc.record(
      {
        role: fc.oneof(value, fc.constantFrom('user', 'assistant', 'tool')),
        content: value,
        tool_calls: fc.oneof(value, fc.array(value)),
      },
      { requiredKeys: [] },
    );
    const request = fc.record(
      {
        messages: fc.oneof(value, fc.array(fc.oneof(value, message))),
        tools: value,
        tool_choice: value,
        functions: value,
        model: value,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(request, (any) => {
        expect(Array.isArray(validateOpenAiChat(any))).toBe(true);
      }),
    );
  });
});
