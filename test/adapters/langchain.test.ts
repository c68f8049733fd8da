import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as z3 from 'zod/v3';
import { type LangchainRequest, langchainMessages } from '../../src/adapters/langchain.ts';
import { createCompactor } from '../../src/compactor.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { noticesOf } from '../support/harness.ts';

const adapter = langchainMessages({ HumanMessage, AIMessage, ToolMessage, SystemMessage });
const schema = z.object({ path: z.string().describe('Where it is.') });
const read = tool(async ({ path }) => path, { name: 'read', description: 'Reads a file.', schema });
const hello = new HumanMessage('Hello');
const openai = (fields: object = {}) => new ChatOpenAI({ model: 'gpt-5', apiKey: 'test', ...fields });
const anthropic = { model: 'claude-sonnet-5', maxTokens: 4096, _llmType: (): string => 'anthropic' };

function agentRequest(fields: object = {}) {
  const systemMessage = new SystemMessage('Be exact.');
  return {
    model: openai(),
    messages: [hello],
    systemMessage,
    systemPrompt: systemMessage.text,
    tools: [read],
    runtime: Object.freeze({ context: undefined }),
    ...fields,
  };
}

const fork = (request: LangchainRequest) => adapter.forkForSummary(request, 'Summarize.', { maxTokens: 2000 });

describe('the items of a request', () => {
  it('are its messages', () => {
    const request = agentRequest();
    expect(adapter.items(request)).toBe(request.messages);
    expect(adapter.withItems(request, request.messages)).toBe(request);
    const longer = adapter.withItems(request, [...request.messages, new AIMessage('Hi.')]);
    expect(longer).toEqual({ ...request, messages: [hello, expect.any(AIMessage)] });
    expect(longer.messages[0]).toBe(hello);
  });

  it.each([
    [undefined, '`messages` to be an array, got undefined'],
    ['Hello', '`messages` to be an array, got "Hello"'],
    [[hello, 'Hello'], '`messages[1]` to be a message or `{ role, content }`, got "Hello"'],
    [[['human', 'Hello']], '`messages[0]` to be a message or `{ role, content }`, got an array'],
    [[{ content: 'x', lc: 1 }], '`messages[0]` to have a type or a role, got the fields content, lc'],
    [[null], '`messages[0]` to be a message or `{ role, content }`, got null'],
  ])('that cannot be read are named: %o', (messages, reason) => {
    // What JavaScript lets through.
    expect(() => adapter.items({ messages } as unknown as LangchainRequest)).toThrow(`Expected ${reason}`);
  });

  it('that cannot be read go out as they are', async () => {
    const events: CompactionEvent[] = [];
    const onEvent = (event: CompactionEvent): void => void events.push(event);
    const compactor = createCompactor({ adapter, onEvent, send: async () => new AIMessage('') });
    const circular = new ToolMessage({ content: 'x', tool_call_id: 'c1', artifact: {} });
    circular.artifact = { circular };
    for (const messages of [
      ['Hello'],
      [hello, circular],
      [
        {
          get content() {
            throw new Error('no');
          },
          role: 'user',
        },
      ],
    ]) {
      const request = { messages } as unknown as LangchainRequest; // what JavaScript lets through
      expect(await compactor.prepare(request)).toBe(request);
    }
    expect(noticesOf(events)).toEqual(['unreadable-request', 'unreadable-request', 'unreadable-request']);
  });
});

describe('what surrounds a conversation', () => {
  it('is that of an agent', () => {
    const context = adapter.context(agentRequest({ model: openai({ maxTokens: 5000 }) }));
    expect(context).toMatchObject({ model: 'gpt-5', system: 'Be exact.', outputCap: 5000 });
    expect(context.tools).toEqual([{ name: 'read', description: 'Reads a file.', schema: z.toJSONSchema(schema) }]);
  });

  it("is nothing in a loop of one's own", () => {
    expect(adapter.context({ messages: [hello] })).toEqual({});
    expect(adapter.context({ messages: [hello], systemMessage: new SystemMessage(''), tools: [] })).toEqual({});
  });

  it('knows a model under what is around it', () => {
    const settings = { stop: ['x'] };
    expect(adapter.context(agentRequest({ model: openai().withConfig(settings) })).model).toBe('gpt-5');
    expect(adapter.context(agentRequest({ model: 'openai:gpt-5' })).model).toBe('openai:gpt-5');
    const capped = agentRequest({ model: anthropic, modelSettings: { maxTokens: 100 } });
    expect(adapter.context(capped)).toMatchObject({ model: 'claude-sonnet-5', outputCap: 100 });
    expect(adapter.context(agentRequest({ model: openai({ maxTokens: -1 }) })).outputCap).toBeUndefined();
  });

  it('tells of tools what a provider is told, whatever describes them', () => {
    const older = z3.object({ path: z3.string().describe('Where it is.'), kind: z3.enum(['a', 'b']).optional() });
    const provided = { type: 'web_search_20260101', name: 'web_search' };
    const json = { type: 'object', properties: { path: { type: 'string' } } };
    const odd = z.object({ when: z.date() }); // has no JSON schema
    const tools = [
      { name: 'older', description: 'Old.', schema: older },
      provided,
      { name: 'json', description: 'Plain.', schema: json },
      { name: 'odd', description: 'Odd.', schema: odd },
      class {},
      null,
    ];
    const { tools: told } = adapter.context({ messages: [hello], tools });
    const text = JSON.stringify(told);
    for (const words of ['Where it is.', '["a","b"]', 'web_search_20260101', '"json"', 'when']) expect(text).toContain(words);
    expect(told).toContain(provided);
    expect(adapter.context({ messages: [hello], tools }).tools).toEqual(told);
  });

  it('is the history of the server where the request says so', () => {
    const request = agentRequest({ modelSettings: { previous_response_id: 'resp_1' } });
    expect(adapter.context(request).serverHeld).toBe('previous_response_id');
  });
});

describe('the system text of a request', () => {
  it('is replaced in the one place where an agent has it', () => {
    const request = agentRequest();
    const { systemMessage, systemPrompt } = adapter.withSystem(request, 'Be quick.');
    expect(systemMessage).toBeInstanceOf(SystemMessage);
    expect(systemMessage.content).toBe('Be quick.');
    expect(systemPrompt).toBe('Be exact.'); // an agent refuses to have both changed
    expect(adapter.withSystem({ messages: [hello], systemPrompt: 'Be exact.' }, 'Be quick.')).toEqual({
      messages: [hello],
      systemPrompt: 'Be quick.',
    });
  });

  it("is the first message in a loop of one's own", () => {
    const request = { messages: [new SystemMessage('Be exact.'), new SystemMessage('Be kind.'), hello] };
    const { messages } = adapter.withSystem(request, 'Be quick.');
    expect(messages.map(({ content }) => content)).toEqual(['Be quick.', 'Hello']);
    expect(messages[1]).toBe(hello);
    expect(adapter.withSystem(request, ' ').messages).toEqual([hello]);
  });
});

describe('a summary request', () => {
  it('is the parent with one message more', () => {
    const request = agentRequest();
    const { request: asked, changed } = fork(request);
    expect(changed).toEqual([]);
    const modelSettings = { maxTokens: 2000 };
    expect(asked).toEqual({ ...request, toolChoice: 'none', modelSettings, messages: [hello, expect.any(HumanMessage)] });
    expect(adapter.items(asked)[0]).toBe(hello);
    expect(adapter.items(asked)[1]?.content).toBe('Summarize.');
    expect(request).not.toHaveProperty('toolChoice');
  });

  it.each([
    ['none', openai(), 'required', []],
    ['none', openai().withConfig({ tags: ['x'] }), undefined, []],
    ['none', { _llmType: (): string => 'googlegenerativeai' }, 'auto', []],
    ['none', { _defaultConfig: { modelProvider: 'openai' }, _llmType: (): string => 'chat_model' }, undefined, []],
    // Bedrock's package throws at `none`; for Anthropic it is part of what the cache depends on.
    [undefined, { _llmType: (): string => 'chat_bedrock_converse' }, undefined, []],
    ['auto', anthropic, 'auto', []],
    [undefined, anthropic, 'required', ['toolChoice']],
    [undefined, anthropic, { type: 'function', function: { name: 'read' } }, ['toolChoice']],
    [undefined, undefined, undefined, []],
  ])('has the tool choice %o, by its model %o, where it was %o', (choice, model, toolChoice, changed) => {
    const asked = fork(agentRequest({ model, ...(toolChoice !== undefined && { toolChoice }) }));
    expect(asked.changed).toEqual(changed);
    expect(Reflect.get(asked.request, 'toolChoice')).toEqual(choice);
  });

  it('has no tool choice without tools', () => {
    const { request, changed } = fork(agentRequest({ tools: [], toolChoice: 'auto' }));
    expect(request).not.toHaveProperty('toolChoice');
    expect(changed).toEqual([]);
    expect(fork({ messages: [hello] }).request).not.toHaveProperty('toolChoice');
  });

  it('is not to stop early, nor to write in a format', () => {
    const modelSettings = {
      stop: ['x'],
      n: 2,
      max_tokens: 100,
      promptCacheKey: 'k',
      response_format: { type: 'json_object' },
      outputConfig: { effort: 'low', format: { type: 'json_schema' } },
    };
    const { request, changed } = fork(agentRequest({ modelSettings, responseFormat: z.object({ title: z.string() }) }));
    expect(Reflect.get(request, 'modelSettings')).toEqual({
      max_tokens: 2000,
      promptCacheKey: 'k',
      outputConfig: { effort: 'low' },
    });
    expect(request).not.toHaveProperty('responseFormat');
    expect(changed).toEqual(['modelSettings.response_format', 'modelSettings.outputConfig', 'responseFormat']);
    expect(modelSettings.stop).toEqual(['x']);
    expect(fork(agentRequest({ modelSettings: { response_format: { type: 'text' } } })).changed).toEqual([]);
  });
});
