import { describe, expect, it } from 'vitest';
import { type AnthropicRequest, anthropicMessages } from '../../src/adapters/anthropic.ts';
import { validateAnthropic } from '../../src/testing/wire/anthropic.ts';

const adapter = anthropicMessages();
const tools = [{ name: 'read', input_schema: { type: 'object' } }];
const marker = { cache_control: { type: 'ephemeral' } };

function parent<More extends object>(more: More) {
  const question = { role: 'user', content: [{ type: 'text', text: 'Go', ...marker }] };
  return {
    model: 'claude',
    system: [{ type: 'text', text: 'Help.', ...marker }],
    tools,
    max_tokens: 4096,
    messages: [question, { role: 'assistant', content: 'Reading.' }, { role: 'user', content: 'And now?' }],
    ...more,
  };
}

function fork<R extends AnthropicRequest>(request: R, maxTokens = 1000) {
  return adapter.forkForSummary(request, 'Summarize.', { maxTokens });
}

describe('forkForSummary', () => {
  it('is the request of the parent and one user message: same references, same order of keys', () => {
    const request = parent({ metadata: { user_id: 'u' }, stream: true, tool_choice: { type: 'auto' }, temperature: 1 });
    const before = structuredClone(request);
    const { request: forked, changed } = fork(request);
    expect(changed).toEqual([]);
    expect(forked).toEqual({
      ...before,
      max_tokens: 1000,
      messages: [...before.messages, { role: 'user', content: 'Summarize.' }],
    });
    expect(Object.keys(forked)).toEqual(Object.keys(request));
    for (const key of ['system', 'tools', 'metadata', 'tool_choice'] as const) expect(forked[key]).toBe(request[key]);
    request.messages.forEach((message, index) => {
      expect(forked.messages[index]).toBe(message);
    });
    expect(request).toEqual(before);
    expect(validateAnthropic(forked)).toEqual([]);
  });

  it('asks after the results of a tool turn', () => {
    const messages = [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'read', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'x' }] },
    ];
    const { request, changed } = fork({ ...parent({}), messages });
    expect(changed).toEqual([]);
    expect(request.messages.slice(0, 3)).toEqual(messages);
    expect(validateAnthropic(request)).toEqual([]);
  });

  it('asks before a system message in last place, and says so', () => {
    const messages = [
      { role: 'user', content: 'Go' },
      { role: 'system', content: 'Be brief.' },
    ];
    const { request, changed } = fork({ ...parent({}), messages });
    expect(changed).toEqual(['system-message-last']);
    expect(request.messages).toEqual([messages[0], { role: 'user', content: 'Summarize.' }, messages[1]]);
    expect(validateAnthropic(request)).toEqual([]);
  });

  it('adds the budget of thinking to the cap of the summary', () => {
    const thinking = { type: 'enabled', budget_tokens: 5000 };
    const { request } = fork(parent({ thinking }));
    expect(request.max_tokens).toBe(6000);
    expect(request.thinking).toBe(thinking);
    expect(fork(parent({ thinking: { type: 'adaptive' } })).request.max_tokens).toBe(1000);
    expect(fork(parent({ thinking: { type: 'disabled', budget_tokens: 5000 } })).request.max_tokens).toBe(1000);
  });

  it('stays under the limit of the SDK where it does not stream', () => {
    expect(fork(parent({}), 40_000).request.max_tokens).toBe(21_333);
    expect(fork(parent({ stream: true }), 40_000).request.max_tokens).toBe(40_000);
  });

  it('may ask for as much as the parent did without streaming', () => {
    const thinking = { type: 'enabled', budget_tokens: 30_000 };
    expect(fork(parent({ max_tokens: 64_000, thinking })).request.max_tokens).toBe(31_000);
  });

  it.each(['any', 'tool'])('relaxes the forced tool choice %s, and says so', (type) => {
    const { request, changed } = fork(parent({ tool_choice: { type, name: 'read' } }));
    expect(request.tool_choice).toEqual({ type: 'auto' });
    expect(changed).toEqual(['tool_choice']);
  });

  it('keeps the choice none', () => {
    const tool_choice = { type: 'none' };
    const { request, changed } = fork(parent({ tool_choice, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }));
    expect(request.tool_choice).toBe(tool_choice);
    expect(changed).toEqual([]);
  });

  it.each([
    'web_search_20250305',
    'web_fetch_20250910',
    'code_execution_20260120',
    'tool_search_tool_bm25_20251119',
    'advisor_20260301',
    'mcp_toolset',
    'something_20270101',
  ])('forbids the provider-executed tool %s, and says so', (type) => {
    const request = parent({ tools: [...tools, { type, name: 'x' }] });
    const forked = fork(request);
    expect(forked.request).toMatchObject({ tool_choice: { type: 'none' } });
    expect(forked.request.tools).toBe(request.tools);
    expect(forked.changed).toEqual(['provider-executed tools']);
  });

  it('forbids MCP servers that are listed without a toolset', () => {
    expect(fork(parent({ mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'x' }] })).changed).toEqual([
      'provider-executed tools',
    ]);
  });

  it.each([
    'custom',
    'bash_20250124',
    'text_editor_20250728',
    'computer_20251124',
    'computer_toolset_20260801',
    'browser_toolset_20260801',
    'memory_20250818',
  ])('leaves the tool choice as it is with the client-executed tool %s', (type) => {
    const { request, changed } = fork(parent({ tools: [{ type, name: 'x' }] }));
    expect('tool_choice' in request).toBe(false);
    expect(changed).toEqual([]);
  });

  it('removes a forced output format, and says so', () => {
    const format = { type: 'json_schema', schema: {} };
    const { request, changed } = fork(parent({ output_format: format, output_config: { effort: 'low', format } }));
    expect('output_format' in request).toBe(false);
    expect(request.output_config).toEqual({ effort: 'low' });
    expect(changed).toEqual(['output_format', 'output_config.format']);
    expect('output_config' in fork(parent({ output_config: { format } })).request).toBe(false);
    const output_config = { effort: 'low' };
    expect(fork(parent({ output_config })).request.output_config).toBe(output_config);
  });

  it('neutralizes what would stop the summary early or act outside of it', () => {
    const { request, changed } = fork(
      parent({
        stop_sequences: ['\n'],
        thread: { type: 'create' },
        compaction: { type: 'summarize' },
        fallback_credit_token: 'once',
      }),
    );
    expect(Object.keys(request)).toEqual(Object.keys(parent({})));
    expect(changed).toEqual([]);
  });

  it('takes a request without messages', () => {
    expect(fork({ ...parent({}), messages: [] }).request.messages).toEqual([{ role: 'user', content: 'Summarize.' }]);
  });
});
