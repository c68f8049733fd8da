import { describe, expect, it } from 'vitest';
import { validateAiSdk } from '../../../src/testing/wire/ai-sdk.ts';

type Fields = Record<string, unknown>;

const text = (value: string, more: Fields = {}): Fields => ({ type: 'text', text: value, ...more });
const user = (...content: unknown[]): Fields => ({ role: 'user', content });
const assistant = (...content: unknown[]): Fields => ({ role: 'assistant', content });
const tool = (...content: unknown[]): Fields => ({ role: 'tool', content });
const call = (id: string, more: Fields = {}): Fields => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'read',
  input: {},
  ...more,
});
const result = (id: string, output: unknown = { type: 'text', value: 'ok' }): Fields => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: 'read',
  output,
});
const served = { providerExecuted: true };
const functionTool = { type: 'function', name: 'read', inputSchema: { type: 'object' } };
const providerTool = { type: 'provider', id: 'openai.web_search', name: 'web_search', args: {} };
const options = (prompt: unknown, more: Fields = {}): Fields => ({ prompt, ...more });
const hello = user(text('Hello'));

const valid: Record<string, unknown> = {
  'one question': options([hello]),
  'everything around it': options([{ role: 'system', content: 'Be exact.' }, hello], {
    tools: [functionTool, providerTool],
    toolChoice: { type: 'tool', toolName: 'read' },
    maxOutputTokens: 100,
    responseFormat: { type: 'json', schema: {} },
    providerOptions: { openai: { store: false } },
    abortSignal: new AbortController().signal,
  }),
  'a tool turn with parallel calls': options([
    hello,
    assistant({ type: 'reasoning', text: '', providerOptions: { openai: { itemId: 'rs' } } }, call('a'), call('b')),
    tool(result('b'), result('a')),
  ]),
  'results over two messages': options([hello, assistant(call('a'), call('b')), tool(result('a')), tool(result('b'))]),
  'files in all their forms': options([
    user(
      { type: 'file', mediaType: 'image/png', data: Uint8Array.of(1) },
      { type: 'file', mediaType: 'image/*', data: new URL('https://example.com/a.png') },
      { type: 'file', mediaType: 'application/pdf', data: 'aGk=' },
    ),
  ]),
  'outputs of every type': options([
    hello,
    assistant(...['a', 'b', 'c', 'd', 'e'].map((id) => call(id))),
    tool(
      result('a', { type: 'json', value: null }),
      result('b', { type: 'error-text', value: 'no' }),
      result('c', { type: 'error-json', value: {} }),
      result('d', { type: 'execution-denied' }),
      result('e', { type: 'content', value: [text('x'), { type: 'image-data', data: 'aGk=', mediaType: 'image/png' }] }),
    ),
  ]),
  'tools of the provider': options([hello, assistant(call('s', served), result('s'), text('Found.')), user(text('More'))]),
  'a result of the provider in a later message': options([
    hello,
    assistant(call('s', served), call('a')),
    tool(result('a')),
    assistant(result('s'), text('Done.')),
    hello,
  ]),
  'a paused turn': options([hello, assistant(call('s', served))]),
  'an approval': options([
    hello,
    assistant(call('s', served)),
    tool({ type: 'tool-approval-response', approvalId: 'p', approved: true }),
  ]),
  'an empty text with a signature': options([
    hello,
    assistant(text('', { providerOptions: { google: { s: 1 } } }), call('a')),
    tool(result('a')),
  ]),
  'a system message in the middle': options([hello, { role: 'system', content: '', providerOptions: { openai: {} } }]),
};

const broken: [rule: string, options: unknown][] = [
  ['prompt', null],
  ['prompt', options('Hello')],
  ['prompt-empty', options([])],
  ['message', options([hello, null])],
  ['unknown-role', options([hello, { role: 'developer', content: 'x' }])],
  ['content', options([{ role: 'user', content: 'Hello' }])],
  ['content', options([{ role: 'system', content: [text('x')] }, hello])],
  ['content-empty', options([user(), hello])],
  ['part', options([user(null)])],
  ['part', options([user({ type: 'text', text: 5 })])],
  ['part', options([hello, assistant({ type: 'reasoning' }, text('x')), hello])],
  ['part-role', options([user(call('a'))])],
  ['part-role', options([user({ type: 'x_new' })])],
  ['part-role', options([hello, tool(text('x'))])],
  ['text-blank', options([user(text(' \n'))])],
  [
    'signature-empty',
    options([
      hello,
      assistant({ type: 'reasoning', text: 'x', providerOptions: { anthropic: { signature: '' } } }, text('x')),
      hello,
    ]),
  ],
  ['file', options([user({ type: 'file', data: 'aGk=' })])],
  ['file', options([user({ type: 'file', mediaType: 'image/png', data: { 0: 1 } })])],
  ['tool-id', options([hello, assistant(call('a', { toolName: '' })), tool(result('a'))])],
  ['call-input', options([hello, assistant(call('a', { input: undefined })), tool(result('a'))])],
  ['output', options([hello, assistant(call('a')), tool(result('a', 'ok'))])],
  ['output', options([hello, assistant(call('a')), tool(result('a', { type: 'x_new' }))])],
  ['output', options([hello, assistant(call('a')), tool(result('a', { type: 'text', value: 5 }))])],
  ['output', options([hello, assistant(call('a')), tool(result('a', { type: 'json' }))])],
  ['output', options([hello, assistant(call('a')), tool(result('a', { type: 'content', value: [{ type: 'file' }] }))])],
  ['error-empty', options([hello, assistant(call('a')), tool(result('a', { type: 'error-text', value: ' ' }))])],
  ['approval', options([hello, assistant(call('s', served)), tool({ type: 'tool-approval-response', approvalId: 'p' })])],
  ['call-unanswered', options([hello, assistant(call('a')), hello])],
  ['call-unanswered', options([hello, assistant(call('a'))])],
  ['result-orphan', options([hello, tool(result('a'))])],
  ['result-orphan', options([hello, assistant(call('a')), tool(result('a')), assistant(text('x')), tool(result('a'))])],
  ['result-twice', options([hello, assistant(call('a')), tool(result('a'), result('a'))])],
  ['server-result-orphan', options([hello, assistant(result('s'), text('x')), hello])],
  ['no-user-message', options([{ role: 'system', content: 'x' }])],
  ['last-message', options([hello, assistant(text('x'))])],
  ['tool', options([hello], { tools: {} })],
  ['tool', options([hello], { tools: [{ type: 'function', name: 'read' }] })],
  ['tool', options([hello], { tools: [{ ...providerTool, id: 'web_search' }] })],
  ['tool-name-twice', options([hello], { tools: [functionTool, functionTool] })],
  ['tool-choice', options([hello], { tools: [functionTool], toolChoice: 'none' })],
  ['tool-choice', options([hello], { tools: [functionTool], toolChoice: { type: 'tool', toolName: 'write' } })],
  ['output-cap', options([hello], { maxOutputTokens: 0 })],
  ['response-format', options([hello], { responseFormat: { type: 'xml' } })],
  ['provider-options', options([hello], { providerOptions: { openai: true } })],
  ['provider-options', options([{ ...hello, providerOptions: 5 }])],
  ['ill-formed-string', options([user(text('\ud800'))])],
];

describe('validateAiSdk', () => {
  it.each(Object.entries(valid))('takes %s', (_name, callOptions) => {
    expect(validateAiSdk(callOptions)).toEqual([]);
  });

  it.each(broken)('%s', (rule, callOptions) => {
    expect(validateAiSdk(callOptions).map((violation) => violation.rule)).toContain(rule);
  });

  it('says where, what was found and what was expected', () => {
    expect(validateAiSdk(options([hello, assistant(call('a')), hello]))).toEqual([
      { rule: 'call-unanswered', path: 'prompt[1].content[0]', message: 'Expected a result of a right behind it.' },
    ]);
  });
});
