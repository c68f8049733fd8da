import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';
import { validateLangchain } from '../../../src/testing/wire/langchain.ts';

type Fields = Record<string, unknown>;

const user = { role: 'user', content: 'Go.' };
const call = (id: string): Fields => ({ type: 'tool_call', id, name: 'read', args: { path: 'a.ts' } });
const calling = (...ids: string[]): Fields => ({ type: 'ai', content: '', tool_calls: ids.map(call) });
const result = (id: unknown): Fields => ({ type: 'tool', content: 'Done.', tool_call_id: id });
const tools = [{ name: 'read', description: 'Reads.', schema: {} }];
const body = (messages: unknown, more: Fields = {}): Fields => ({ messages, tools, ...more });

const valid: Record<string, unknown> = {
  'one question': body([user]),
  'a loop without tools': { messages: [user] },
  'messages of LangChain': body([
    new SystemMessage('Be exact.'),
    new HumanMessage({
      content: [
        { type: 'text', text: 'Go.' },
        { type: 'image_url', image_url: 'https://example.test/a.png' },
      ],
    }),
    new AIMessage({ content: 'Reading.', tool_calls: [{ id: 't1', name: 'read', args: {} }] }),
    new ToolMessage({ content: '', tool_call_id: 't1' }),
    new AIMessage('Done.'),
    new HumanMessage('More.'),
  ]),
  'parallel calls, answered in any order': body([user, calling('t1', 't2'), result('t2'), result('t1')]),
  'calls in content alone': body([
    user,
    { type: 'ai', content: [{ type: 'tool_use', id: 't1', name: 'read', input: {} }] },
    result('t1'),
  ]),
  'calls that could not be read': body([
    user,
    {
      type: 'ai',
      content: '',
      tool_calls: [],
      additional_kwargs: { tool_calls: [{ id: 't1', function: { name: 'read', arguments: '{' } }] },
    },
    result('t1'),
  ]),
  'signed thinking': body([
    user,
    {
      type: 'ai',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 's' },
        { type: 'text', text: 'x' },
      ],
    },
    user,
  ]),
  'an answer that is sound alone': body([user, { type: 'ai', content: '', additional_kwargs: { audio: { id: 'a' } } }, user]),
  'a choice of tool': body([user], {
    toolChoice: { type: 'function', function: { name: 'read' } },
    modelSettings: { maxTokens: 5 },
  }),
  'a tool of the provider': body([user], { tools: [{ type: 'web_search_20260101' }], toolChoice: undefined }),
};

const invalid: Record<string, unknown> = {
  body: 7,
  'messages-type': { messages: 'Go.' },
  'messages-empty': { messages: [] },
  'message-type': body([user, 7]),
  'unknown-type': body([user, { type: 'remove', content: [] }]),
  'content-type': body([{ role: 'user', content: 7 }]),
  'blank-content': body([{ role: 'user', content: ' ' }]),
  'block-type': body([{ role: 'user', content: [{ text: 'x' }] }]),
  'block-not-allowed': body([
    {
      role: 'user',
      content: [
        { type: 'thinking', thinking: 'x', signature: 's' },
        { type: 'text', text: 'x' },
      ],
    },
  ]),
  'unsigned-thinking': body([
    user,
    {
      type: 'ai',
      content: [
        { type: 'thinking', thinking: 'x' },
        { type: 'text', text: 'x' },
      ],
    },
    user,
  ]),
  'tool-call-id': body([user, calling('undefined'), result(undefined)]),
  'calls-not-allowed': body([{ ...user, tool_calls: [call('t1')] }]),
  'system-first': body([user, { type: 'system', content: 'x' }]),
  'no-user-message': body([{ type: 'system', content: 'x' }]),
  'first-message': body([{ type: 'ai', content: 'x' }, user]),
  'last-message': body([user, { type: 'ai', content: 'x' }]),
  'unanswered-call': body([user, calling('t1', 't2'), result('t1')]),
  'orphan-tool-message': body([user, result('t1')]),
  'duplicate-tool-message': body([user, calling('t1'), result('t1'), result('t1')]),
  'duplicate-call-id': body([user, calling('t1'), result('t1'), calling('t1'), result('t1')]),
  'call-field': body([user, { type: 'ai', content: '', tool_calls: [{ ...call('t1'), args: '{}' }] }, result('t1')]),
  'tools-type': body([user], { tools: {} }),
  'tool-type': body([user], { tools: [7] }),
  'tool-name': body([user], { tools: [{ name: '', schema: {} }] }),
  'tool-name-twice': body([user], { tools: [...tools, ...tools] }),
  'choice-without-tools': body([user], { tools: [], toolChoice: 'none' }),
  'choice-unknown': body([user], { toolChoice: 'write' }),
  'output-cap': body([user], { modelSettings: { max_tokens: 0 } }),
  'ill-formed-string': body([{ role: 'user', content: 'a\ud800' }]),
};

describe('a request that LangChain and its providers take', () => {
  it.each(Object.entries(valid))('%s', (_name, request) => {
    expect(validateLangchain(request)).toEqual([]);
  });
});

describe('a request that one of them refuses', () => {
  it.each(Object.entries(invalid))('%s', (rule, request) => {
    const rules = validateLangchain(request).map((violation) => violation.rule);
    expect(new Set(rules)).toEqual(new Set([rule]));
  });
});
