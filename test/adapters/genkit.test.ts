import { describe, expect, it } from 'vitest';
import { type GenkitMessage, type GenkitRequest, genkitModel } from '../../src/adapters/genkit.ts';
import { freezeDeep } from '../support/freeze.ts';

const adapter = genkitModel();
const user: GenkitMessage = { role: 'user', content: [{ text: 'Hello' }] };
const system: GenkitMessage = { role: 'system', content: [{ text: 'Be exact.' }] };
const tool = { name: 'read', description: 'Reads.', inputSchema: { type: 'object' } };
const request = (fields: Partial<GenkitRequest> = {}): GenkitRequest => ({ messages: [system, user], ...fields });
const fork = (fields: Partial<GenkitRequest> = {}, maxTokens = 1000) =>
  adapter.forkForSummary(freezeDeep(request(fields)), 'Summarize.', { maxTokens });

describe('the conversation of a request', () => {
  it('is its messages, the very same', () => {
    const messages = [system, user];
    expect(adapter.items({ messages })).toBe(messages);
    const own = request();
    expect(adapter.withItems(own, own.messages)).toBe(own);
  });

  it('is replaced, and nothing else', () => {
    const own = request({ tools: [tool], config: { temperature: 0 }, docs: [{ content: [] }] });
    expect(adapter.withItems(own, [user])).toEqual({ ...own, messages: [user] });
  });

  it.each([
    [undefined, '`messages` to be an array, got undefined'],
    ['Hello', '`messages` to be an array, got "Hello"'],
    [[user, null], '`messages[1]` to be an object, got null'],
    [[{ ...user, role: 'assistant' }], '`messages[0].role` to be system, user, model or tool, got "assistant"'],
    [[{ role: 'user' }], '`messages[0].content` to be an array of parts, got undefined'],
  ])('is refused where it cannot be read: %j', (messages, reason) => {
    const odd = { messages } as unknown as GenkitRequest;
    expect(() => adapter.items(odd)).toThrow(
      expect.objectContaining({ code: 'invalid-request', message: `Expected ${reason}.` }),
    );
  });

  it('has one system message', () => {
    const replaced = adapter.withSystem({ messages: [system, system, user, system] }, 'Be quick.');
    expect(replaced.messages).toEqual([{ role: 'system', content: [{ text: 'Be quick.' }] }, user, system]);
    expect(adapter.withSystem(request(), ' ').messages).toEqual([user]);
    expect(adapter.withSystem({ messages: [] }, 'Be quick.').messages).toHaveLength(1);
  });

  it('names the tool of a result, by a word of its own where nobody told it', () => {
    const results = adapter.writeMessage({
      role: 'tool',
      parts: [
        { type: 'toolResult', callId: 'a', name: 'read', content: [] },
        { type: 'toolResult', callId: 'lost', content: [] },
      ],
    });
    expect(results[0]?.content).toEqual([
      { toolResponse: { name: 'read', ref: 'a', output: '' } },
      { toolResponse: { name: 'tool', ref: 'lost', output: '' } },
    ]);
  });
});

describe('what surrounds the conversation', () => {
  it('are tools, a version and an output cap', () => {
    const config = { version: 'gemini-2.5-flash', maxOutputTokens: 500 };
    expect(adapter.context(request({ tools: [tool], config }))).toEqual({
      model: 'gemini-2.5-flash',
      system: undefined,
      tools: [tool],
      outputCap: 500,
    });
    expect(adapter.context(request({ config: { max_completion_tokens: 300 } })).outputCap).toBe(300);
    expect(adapter.context(request({ config: { maxOutputTokens: -1, maxTokens: 200 } })).outputCap).toBe(200);
    expect(adapter.context(request({ config: 'odd' })).outputCap).toBeUndefined();
  });

  it('are no tools where the list is empty, as Genkit always gives one', () => {
    expect(adapter.context(request({ tools: [] })).tools).toBeUndefined();
  });

  it('are the tools in the config of a plugin, too', () => {
    const search = { googleSearch: {} };
    expect(adapter.context(request({ tools: [tool], config: { tools: [search] } })).tools).toEqual([tool, search]);
  });

  it('are the documents, until Genkit has written them into the message of the user', () => {
    const docs = [{ content: [{ text: 'A document.' }] }];
    expect(adapter.context(request({ docs })).system).toBe(docs);
    const written = { ...user, content: [...user.content, { text: '- [0]: A document.', metadata: { purpose: 'context' } }] };
    expect(adapter.context(request({ docs, messages: [system, written] })).system).toBeUndefined();
    expect(adapter.context(request({ docs, messages: [system, written, user] })).system).toBe(docs);
    const awaited = { ...user, content: [...user.content, { text: '', metadata: { purpose: 'context', pending: true } }] };
    expect(adapter.context(request({ docs, messages: [system, awaited] })).system).toBe(docs);
  });
});

describe('a summary request', () => {
  it('is the parent and one message of the user', () => {
    const parent = request({ tools: [tool], config: { temperature: 0.5, version: 'x' }, output: {} });
    const { request: forked, changed } = adapter.forkForSummary(freezeDeep(parent), 'Summarize.', { maxTokens: 1000 });
    expect(forked).toEqual({
      ...parent,
      messages: [system, user, { role: 'user', content: [{ text: 'Summarize.' }] }],
      toolChoice: 'none',
      config: { temperature: 0.5, version: 'x', maxOutputTokens: 1000 },
    });
    expect(changed).toEqual([]);
    expect(forked.messages[1]).toBe(user);
    expect(forked.tools).toBe(parent.tools);
  });

  it('makes no choice where there are no tools', () => {
    expect(fork({ tools: [], toolChoice: 'auto' }).request).not.toHaveProperty('toolChoice');
    expect(fork({}).request).not.toHaveProperty('tools');
  });

  it('sets the cap on the fields that the config uses, with room for thoughts', () => {
    expect(fork({ config: { max_completion_tokens: 1, maxTokens: 2 } }).request.config).toEqual({
      maxOutputTokens: 1000,
      max_completion_tokens: 1000,
      maxTokens: 1000,
    });
    for (const [config, cap] of [
      [{ thinkingConfig: { thinkingBudget: 500 } }, 1500],
      [{ thinkingConfig: { thinkingBudget: -1 } }, 1000],
      [{ thinking: { enabled: true, budgetTokens: 2000 } }, 3000],
      [{ thinking: { enabled: false, budgetTokens: 2000 } }, 1000],
      [{ reasoning: { max_tokens: 100 } }, 1100],
    ] as const)
      expect(fork({ config }).request.config).toEqual({ ...config, maxOutputTokens: cap });
  });

  it('drops what would end it early, multiply or store it', () => {
    const config = { stopSequences: ['x'], stop: 'x', n: 2, candidateCount: 2, store: true, metadata: { own: 1 }, topK: 3 };
    expect(fork({ config })).toMatchObject({
      request: { config: { maxOutputTokens: 1000, store: false, topK: 3 } },
      changed: [],
    });
    expect(Object.keys(fork({ config }).request.config as object).sort()).toEqual(['maxOutputTokens', 'store', 'topK']);
    expect(fork({ config: { metadata: { user_id: 'u' } } }).request.config).toHaveProperty('metadata');
  });

  it('relaxes a forced format, and says so', () => {
    for (const output of [
      { format: 'json' },
      { schema: { type: 'object' }, constrained: true },
      { contentType: 'application/json' },
    ]) {
      const { request: forked, changed } = fork({ output });
      expect(forked).not.toHaveProperty('output');
      expect(changed).toEqual(['output']);
    }
    for (const output of [{}, { format: 'text' }, { constrained: true }])
      expect(fork({ output })).toMatchObject({ request: { output }, changed: [] });
    expect(fork({ config: { response_format: { type: 'json_object' }, responseMimeType: 'application/json' } })).toEqual({
      request: expect.objectContaining({ config: { maxOutputTokens: 1000 } }),
      changed: ['config.response_format', 'config.responseMimeType'],
    });
    expect(fork({ config: { response_format: { type: 'text' } } }).changed).toEqual([]);
  });

  it('relaxes a forced tool in the words of the plugin', () => {
    const choice = (tool_choice: unknown) => {
      const { request: forked, changed } = fork({ tools: [tool], toolChoice: 'required', config: { tool_choice } });
      expect(forked.toolChoice).toBe('none');
      return [(forked.config as { tool_choice: unknown }).tool_choice, changed];
    };
    expect(choice('required')).toEqual(['none', []]);
    expect(choice({ type: 'function', function: { name: 'read' } })).toEqual(['none', []]);
    expect(choice({ type: 'tool', name: 'read' })).toEqual([{ type: 'auto' }, ['config.tool_choice']]);
    expect(choice({ type: 'auto' })).toEqual([{ type: 'auto' }, []]);
    // The plugin for Google takes this before Genkit's own choice.
    const { request: forked, changed } = fork({ tools: [tool], config: { functionCallingConfig: { mode: 'ANY' } } });
    expect([forked.config, forked.toolChoice, changed]).toEqual([{ maxOutputTokens: 1000 }, 'none', []]);
  });

  it('forbids tools that the provider runs itself, and says so', () => {
    const config = { mcp_servers: [{ name: 'files' }], tool_choice: { type: 'auto' } };
    expect(fork({ config })).toMatchObject({
      request: { config: { mcp_servers: config.mcp_servers, tool_choice: { type: 'none' } } },
      changed: ['provider-executed tools'],
    });
  });

  it('leaves documents out, which Genkit would write into the instruction, and says so', () => {
    const { request: forked, changed } = fork({ docs: [{ content: [{ text: 'A document.' }] }] });
    expect(forked).not.toHaveProperty('docs');
    expect(changed).toEqual(['docs']);
    expect(fork({ docs: undefined }).changed).toEqual([]);
  });

  it('leaves a config alone that is no object', () => {
    expect(fork({ config: 'odd' }).request.config).toBe('odd');
    expect(fork({ config: null }).request.config).toEqual({ maxOutputTokens: 1000 });
  });
});
