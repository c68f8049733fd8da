import { describe, expect, it } from 'vitest';
import { validateBedrock } from '../../../src/testing/wire/bedrock.ts';

type Block = Record<string, unknown>;

const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const llama = 'us.meta.llama3-3-70b-instruct-v1:0';
const nova = 'amazon.nova-2-lite-v1:0';

const spec = (name: string): Block => ({ toolSpec: { name, inputSchema: { json: { type: 'object' } } } });
const text = (value: string): Block => ({ text: value });
const call = (toolUseId: string, more: Block = {}): Block => ({
  toolUse: { toolUseId, name: 'read', input: { path: 'a.ts' }, ...more },
});
const result = (toolUseId: string, more: Block = {}): Block => ({ toolResult: { toolUseId, content: [text('done')], ...more } });
const own = (toolUseId: string): Block => call(toolUseId, { name: 'nova_grounding', type: 'server_tool_use' });
const signed: Block = { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sealed' } } };
const unsigned: Block = { reasoningContent: { reasoningText: { text: 'Hm.' } } };
const redacted: Block = { reasoningContent: { redactedContent: Uint8Array.from([1]) } };
const point = (ttl?: string): Block => ({ cachePoint: { type: 'default', ...(ttl && { ttl }) } });
const bytes = Uint8Array.from([1, 2, 3]);
const image: Block = { image: { format: 'png', source: { bytes } } };
const document = (name: string): Block => ({ document: { format: 'pdf', name, source: { bytes } } });
const user = (...content: unknown[]): Block => ({ role: 'user', content });
const assistant = (...content: unknown[]): Block => ({ role: 'assistant', content });
const system = (...content: unknown[]): Block => ({ role: 'system', content });
const go = user(text('Go'));

function input(messages: readonly unknown[], more: Block = {}): Block {
  return { modelId: claude, toolConfig: { tools: [spec('read')] }, messages, ...more };
}

const thinking = (budget_tokens: number): Block => ({
  additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens } },
  inferenceConfig: { maxTokens: 4096 },
});

const valid: Record<string, unknown> = {
  'one question': input([go], { toolConfig: undefined }),
  'a chat with system text': input([go, assistant(text('Hi ')), user(text('More'))], {
    system: [text('Be exact.'), { guardContent: { text: { text: 'x' } } }, point()],
    inferenceConfig: { maxTokens: 1, temperature: 0 },
  }),
  'a tool turn with parallel calls': input([
    go,
    assistant(text('Reading.'), call('t1'), call('functions.read:2')),
    user(result('functions.read:2'), result('t1'), text('And hurry.')),
  ]),
  'results of every kind': input([
    go,
    assistant(call('t1'), call('t2')),
    user(
      result('t1', { content: [], status: 'success' }),
      result('t2', { content: [{ json: [1] }, image, document('a')], status: 'error' }),
    ),
  ]),
  'media of every kind': input([
    user(
      text('See'),
      image,
      document('Notes (draft) [2]-x'),
      { document: { name: 'b', source: { content: [text('x')] } } },
      { video: { format: 'mp4', source: { s3Location: { uri: 's3://b/v.mp4' } } } },
      { audio: { format: 'mp3', source: { bytes } } },
      { searchResult: { source: 'u', title: 't', content: [] } },
      { guardContent: { text: { text: 'x' } } },
      { $unknown: ['x', {}] },
    ),
  ]),
  'a tool of the provider': input([
    go,
    assistant(own('s1'), result('s1', { type: 'nova_grounding_result' }), text('So.')),
    user(text('More')),
  ]),
  'system messages': input([
    go,
    system(text('Be quick.'), { toolAddition: { tool: { name: 'read' } } }),
    assistant(text('Hi')),
    user(text('More')),
    system(text('x')),
  ]),
  'signed reasoning of Claude in an open tool loop': input(
    [go, assistant(signed, redacted, call('t1')), user(result('t1'))],
    thinking(1024),
  ),
  'unsigned reasoning of others': input([go, assistant(unsigned, text('a')), go], { modelId: nova }),
  'either where the id does not tell': input([go, assistant(unsigned, signed, text('a')), go], {
    modelId: 'arn:aws:bedrock:us-east-1:1:application-inference-profile/x',
  }),
  'cache points': input([user(text('Go'), point()), assistant(call('t1'), point()), user(result('t1'), point(), text('x'))], {
    toolConfig: { tools: [spec('read'), point('1h')] },
  }),
  'every choice of tools': input([go], {
    toolConfig: { tools: [spec('read'), { systemTool: { name: 'x' } }], toolChoice: { tool: { name: 'read' } } },
  }),
  'a managed prompt': { modelId: 'arn:aws:bedrock:us-east-1:1:prompt/P:1', messages: [go], promptVariables: {} },
  'calls and results apart for Llama': input([go, assistant(call('t1')), user(result('t1')), assistant(text('a')), go], {
    modelId: llama,
  }),
};

const invalid: [string, unknown][] = [
  ['invalid-input', null],
  ['invalid-input', { modelId: claude, messages: 'Go' }],
  ['no-messages', input([])],
  ['message-role', input([go, null])],
  ['message-role', input([{ role: 'tool', content: [text('a')] }])],
  ['content-type', input([{ role: 'user', content: 'Go' }])],
  ['content-empty', input([user()])],
  ['block-shape', input([user('Go')])],
  ['block-shape', input([user({ type: 'text' })])],
  ['block-shape', input([user({ text: 'a', image: {} })])],
  ['first-message', input([assistant(text('Hi')), go])],
  ['last-message', input([go, assistant(text('Hi'))])],
  ['alternation', input([go, user(text('More'))])],
  ['alternation', input([go, assistant(text('a')), assistant(text('b')), go])],
  ['system-placement', input([system(text('a')), go])],
  ['system-placement', input([go, assistant(text('a')), system(text('b')), go])],
  ['block-role', input([go, assistant(text('a'), image), go])],
  ['block-role', input([user(text('a'), signed)])],
  ['block-role', input([user(text('a'), { toolRemoval: { tool: {} } })])],
  ['block-role', input([go, system(image)])],
  ['text-type', input([user({ text: 5 })])],
  ['text-blank', input([user({ text: ' \n' })])],
  ['text-blank', input([go, assistant(call('t1')), user(result('t1', { content: [text('')] }))])],
  ['cache-point-type', input([user(text('a'), { cachePoint: {} })])],
  ['cache-point-first', input([user(point(), text('a'))])],
  ['cache-point-after-reasoning', input([go, assistant(signed, point(), text('a')), go])],
  [
    'cache-points',
    input([
      user(text('a'), point(), text('b'), point()),
      assistant(text('c'), point()),
      user(text('d'), point(), text('e'), point()),
    ]),
  ],
  ['cache-point-order', input([user(text('a'), point(), text('b'), point('1h'))])],
  ['media-source', input([user(text('a'), { image: { format: 'png', source: {} } })])],
  ['media-source', input([user(text('a'), { image: { format: 'png', source: { bytes, s3Location: {} } } })])],
  // What JSON makes of bytes.
  ['media-bytes', input([user(text('a'), { image: { format: 'png', source: { bytes: { 0: 1 } } } })])],
  ['media-bytes', input([user(text('a'), { image: { format: 'png', source: { bytes: new Uint8Array() } } })])],
  ['media-format', input([user(text('a'), { image: { source: { bytes } } })])],
  ['too-many-images', input([user(text('a'), ...Array.from({ length: 21 }, () => image))])],
  ['too-many-documents', input([user(text('a'), ...Array.from({ length: 6 }, (_, index) => document(`d${index}`)))])],
  ['document-without-text', input([user(document('a'))])],
  ['document-name', input([user(text('a'), document('notes.pdf'))])],
  ['document-name', input([user(text('a'), document('two  spaces'))])],
  ['document-name', input([user(text('a'), document('x'.repeat(201)))])],
  [
    'document-name-repeated',
    input([user(text('a'), document('a')), assistant(call('t1')), user(result('t1', { content: [document('a')] }))]),
  ],
  ['tool-id', input([go, assistant(call('a b')), user(result('a b'))])],
  ['tool-id', input([go, assistant(call('x'.repeat(65))), user(result('x'.repeat(65)))])],
  ['tool-name', input([go, assistant(call('t1', { name: 'a.b' })), user(result('t1'))])],
  ['tool-input', input([go, assistant(call('t1', { input: 'raw' })), user(result('t1'))])],
  ['tool-id-repeated', input([go, assistant(call('t1')), user(result('t1')), assistant(call('t1')), user(result('t1'))])],
  ['call-unanswered', input([go, assistant(call('t1'), call('t2')), user(result('t1'))])],
  ['result-orphan', input([user(result('t1'))])],
  ['result-twice', input([go, assistant(call('t1')), user(result('t1'), result('t1'))])],
  ['results-first', input([go, assistant(call('t1')), user(text('a'), result('t1'))])],
  ['result-status', input([go, assistant(call('t1')), user(result('t1', { status: 'failed' }))])],
  ['error-empty', input([go, assistant(call('t1')), user(result('t1', { content: [], status: 'error' }))])],
  ['server-call-unanswered', input([go, assistant(own('s1'), text('a')), go])],
  ['server-result-orphan', input([go, assistant(result('s1'), text('a')), go])],
  ['mixed-turn', input([go, assistant(call('t1')), user(result('t1'), text('a'))], { modelId: llama })],
  [
    'mixed-turn',
    input([go, assistant(text('a'), call('t1')), user(result('t1'))], { modelId: 'mistral.mistral-large-2407-v1:0' }),
  ],
  ['tool-config-missing', input([go, assistant(call('t1')), user(result('t1'))], { toolConfig: undefined })],
  ['tools-empty', input([go], { toolConfig: { tools: [] } })],
  ['tool-spec', input([go], { toolConfig: { tools: [spec('a.b')] } })],
  ['tool-schema', input([go], { toolConfig: { tools: [{ toolSpec: { name: 'a' } }] } })],
  ['tool-name-repeated', input([go], { toolConfig: { tools: [spec('a'), spec('a')] } })],
  ['tool-choice', input([go], { toolConfig: { tools: [spec('a')], toolChoice: { none: {} } } })],
  ['tool-choice-unknown', input([go], { toolConfig: { tools: [spec('a')], toolChoice: { tool: { name: 'b' } } } })],
  ['reasoning-shape', input([go, assistant({ reasoningContent: {} }, text('a')), go])],
  ['reasoning-shape', input([go, assistant({ reasoningContent: { redactedContent: { 0: 1 } } }, text('a')), go])],
  ['reasoning-shape', input([go, assistant({ reasoningContent: { reasoningText: { signature: 's' } } }, text('a')), go])],
  ['reasoning-signature', input([go, assistant(unsigned, text('a')), go])],
  ['reasoning-signature', input([go, assistant(signed, text('a')), go], { modelId: nova })],
  [
    'reasoning-signature',
    input([go, assistant({ reasoningContent: { reasoningText: { text: 'a', signature: '' } } }, text('a')), go]),
  ],
  ['reasoning-last', input([go, assistant(text('a'), signed), go])],
  ['reasoning-first', input([go, assistant(call('t1')), user(result('t1'))], thinking(1024))],
  ['thinking-budget', input([go], thinking(1023))],
  ['thinking-budget', input([go], thinking(4096))],
  ['unknown-level', input([go], { outputConfig: { effort: 'minimal' } })],
  ['output-cap', input([go], { inferenceConfig: { maxTokens: 0 } })],
  ['output-cap', input([go], { inferenceConfig: { maxTokens: 1.5 } })],
  [
    'output-cap-at-high-effort',
    input([go], {
      modelId: nova,
      inferenceConfig: { maxTokens: 9 },
      additionalModelRequestFields: { reasoningConfig: { maxReasoningEffort: 'high' } },
    }),
  ],
  ['model', input([go], { modelId: undefined })],
  ['managed-prompt', { modelId: 'arn:aws:bedrock:us-east-1:1:prompt/P:1', messages: [go], inferenceConfig: { maxTokens: 5 } }],
  ['system-type', input([go], { system: 'Be exact.' })],
  ['system-type', input([go], { system: ['Be exact.'] })],
  ['system-blank', input([go], { system: [text(' ')] })],
  ['ill-formed-string', input([user(text('a\ud800'))])],
];

describe('validateBedrock', () => {
  it.each(Object.entries(valid))('takes %s', (_name, request) => {
    expect(validateBedrock(request)).toEqual([]);
  });

  it.each(invalid)('reports %s', (rule, request) => {
    const violations = validateBedrock(request);
    expect([...new Set(violations.map((violation) => violation.rule))]).toEqual([rule]);
    for (const { path, message } of violations) {
      expect(typeof path).toBe('string');
      expect(message).toMatch(/^Expected /);
    }
  });

  it('says where', () => {
    expect(validateBedrock(input([go, assistant(call('t1')), user(result('t1'), result('t2'))]))).toEqual([
      {
        rule: 'result-orphan',
        path: 'messages[2].content[1]',
        message: 'Expected a call t2 in the message before.',
      },
    ]);
  });
});
