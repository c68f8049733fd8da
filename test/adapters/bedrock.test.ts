import { describe, expect, it } from 'vitest';
import { type BedrockInput, type BedrockMessage, type BedrockReply, bedrockConverse } from '../../src/adapters/bedrock.ts';
import { CompactionError } from '../../src/errors.ts';

const adapter = bedrockConverse();
const user = (text: string): BedrockMessage => ({ role: 'user', content: [{ text }] });
const said = (text: string): BedrockMessage => ({ role: 'assistant', content: [{ text }] });
const input: BedrockInput = { modelId: 'anthropic.claude', messages: [user('Hello.')] };

describe('items', () => {
  it('are the messages of the input; a request that only names a prompt has none', () => {
    expect(adapter.items(input)).toBe(input.messages);
    expect(adapter.items({ modelId: 'arn:aws:bedrock:us-east-1:1:prompt/P:1' })).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['messages', { modelId: 'm', messages: 'Hello.' }],
    ['messages[1]', { modelId: 'm', messages: [user('a'), null] }],
    ['messages[1].role', { modelId: 'm', messages: [user('a'), { role: 'robot', content: [] }] }],
    ['messages[0].content', { modelId: 'm', messages: [{ role: 'user', content: 'Hello.' }] }],
    ['a Converse command', undefined],
    ['a Converse command', 'Hello.'],
  ])('that cannot be read are named: %s', (name, request) => {
    expect(() => adapter.items(request as BedrockInput)).toThrow(CompactionError);
    expect(() => adapter.items(request as BedrockInput)).toThrow(name);
  });

  it('may be empty turns, as stored histories have them', () => {
    const messages = [{ role: 'user', content: [] }, { role: 'assistant' }, { role: 'user', content: null }] as BedrockMessage[];
    expect(adapter.items({ ...input, messages })).toBe(messages);
    expect(adapter.withItems(input, [...messages, user('Hi.')]).messages).toEqual([user('Hi.')]);
  });
});

describe('the context', () => {
  it('is what surrounds the conversation', () => {
    const system = [{ text: 'Be exact.' }];
    const tools = [{ toolSpec: { name: 'read', inputSchema: { json: {} } } }];
    const request = { ...input, system, toolConfig: { tools }, inferenceConfig: { maxTokens: 1000 } };
    const context = adapter.context(request);
    expect(context).toEqual({ model: 'anthropic.claude', system, tools, outputCap: 1000, pending: undefined });
    expect(context.system).toBe(system);
    expect(context.tools).toBe(tools);
  });

  it('forbids a compaction while the assistant has the last word', () => {
    expect(adapter.context({ ...input, messages: [user('a'), said('b')] }).pending).toBe('assistant-last');
    const messages = [user('a'), said('b'), { role: 'system', content: [{ text: 'c' }] }];
    expect(adapter.context({ ...input, messages }).pending).toBe('assistant-last');
  });
});

describe('withSystem', () => {
  it('puts one text in place of all others, with the last cache point behind it', () => {
    const cachePoint = { cachePoint: { type: 'default', ttl: '1h' } };
    const system = [{ text: 'a' }, { cachePoint: { type: 'default' } }, { guardContent: { text: { text: 'b' } } }, cachePoint];
    const changed = adapter.withSystem({ ...input, system }, 'c');
    expect(changed).toEqual({ ...input, system: [{ text: 'c' }, cachePoint] });
    expect(changed.messages).toBe(input.messages);
    expect(adapter.withSystem(input, 'c').system).toEqual([{ text: 'c' }]);
  });

  it('leaves no blank text, and no cache point without a text', () => {
    expect(adapter.withSystem({ ...input, system: [{ text: 'a' }, { cachePoint: { type: 'default' } }] }, ' ')).toEqual(input);
  });
});

describe('B070: the tools of a history that lost them', () => {
  const call: BedrockMessage = {
    role: 'assistant',
    content: ['read', 'write', 'read'].map((name, index) => ({ toolUse: { toolUseId: `t${index}`, name, input: {} } })),
  };
  const results: BedrockMessage = {
    role: 'user',
    content: [0, 1, 2].map((index) => ({ toolResult: { toolUseId: `t${index}`, content: [] } })),
  };
  const grown = [user('Hello.'), call, results];
  const declared = ['read', 'write'].map((name) => ({ toolSpec: { name, inputSchema: { json: { type: 'object' } } } }));

  it('are declared by their names where a request is rebuilt', () => {
    expect(adapter.withItems(input, grown).toolConfig).toEqual({ tools: declared });
    expect(adapter.withItems({ ...input, toolConfig: { tools: [] } }, grown).toolConfig).toEqual({ tools: declared });
  });

  it('are left alone where the request has tools, needs none, is not changed, or names a managed prompt', () => {
    const toolConfig = { tools: [{ toolSpec: { name: 'other', inputSchema: { json: {} } } }] };
    expect(adapter.withItems({ ...input, toolConfig }, grown).toolConfig).toBe(toolConfig);
    expect(adapter.withItems(input, [user('Other.')])).not.toHaveProperty('toolConfig');
    expect(adapter.withItems({ ...input, messages: grown }, grown)).not.toHaveProperty('toolConfig');
    const modelId = 'arn:aws:bedrock:us-east-1:1:prompt/P:1';
    expect(adapter.withItems({ ...input, modelId }, grown)).not.toHaveProperty('toolConfig');
  });
});

describe('usage', () => {
  const reply = (usage: unknown): BedrockReply => ({ output: undefined, stopReason: 'end_turn', usage: usage as object });

  it('counts what was read from the cache and written to it once', () => {
    const usage = { inputTokens: 50, outputTokens: 5, totalTokens: 1, cacheReadInputTokens: 850, cacheWriteInputTokens: 100 };
    expect(adapter.usage(reply(usage))).toEqual({
      inputTokens: 1000,
      outputTokens: 5,
      cachedInputTokens: 850,
      cacheWriteTokens: 100,
    });
    expect(adapter.usage(reply({ inputTokens: 7, outputTokens: 0 }))).toEqual({ inputTokens: 7, outputTokens: 0 });
  });

  it.each([
    undefined,
    null,
    'many',
    {},
    { inputTokens: 0, outputTokens: 0 },
    { inputTokens: Number.NaN, outputTokens: 1 },
    { inputTokens: 5, outputTokens: -1 },
    { inputTokens: 5, outputTokens: 1, cacheReadInputTokens: '7' },
    { inputTokens: 1e300, outputTokens: 1 },
  ])('is unknown where a number is missing or impossible: %j', (usage) => {
    expect(adapter.usage(reply(usage))).toBeUndefined();
  });

  it('of a stream, or of nothing, is not read', () => {
    const stream: AsyncIterable<object> = { [Symbol.asyncIterator]: () => expect.unreachable() };
    expect(adapter.usage({ stream })).toBeUndefined();
    expect(adapter.usage(stream)).toBeUndefined();
    expect(adapter.usage(undefined as never)).toBeUndefined();
  });
});
