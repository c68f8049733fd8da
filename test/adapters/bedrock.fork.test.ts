import { describe, expect, it } from 'vitest';
import { type BedrockInput, type BedrockMessage, bedrockConverse } from '../../src/adapters/bedrock.ts';
import { validateBedrock } from '../../src/testing/wire/bedrock.ts';

const adapter = bedrockConverse();
const user = (...content: object[]): BedrockMessage => ({ role: 'user', content });
const assistant = (...content: object[]): BedrockMessage => ({ role: 'assistant', content });
const hello = user({ text: 'Hello.' });
const call = assistant({ toolUse: { toolUseId: 'a', name: 'read', input: {} } });
const results = user({ toolResult: { toolUseId: 'a', content: [{ text: 'x' }] } }, { cachePoint: { type: 'default' } });
const tools = [{ toolSpec: { name: 'read', inputSchema: { json: { type: 'object' } } } }];
const input = (messages: readonly BedrockMessage[], fields: object = {}): BedrockInput => ({
  modelId: 'anthropic.claude',
  messages,
  toolConfig: { tools },
  ...fields,
});
const fork = (request: BedrockInput, maxTokens = 500) => adapter.forkForSummary(request, 'Summarize.', { maxTokens });

describe('the instruction of a summary request', () => {
  it('joins the last message of the user, behind all that is in it', () => {
    const parent = input([hello, call, results]);
    const { request, changed } = fork(parent);
    expect(changed).toEqual([]);
    expect(request).toEqual({
      ...parent,
      messages: [hello, call, user(...(results.content ?? []), { text: 'Summarize.' })],
      inferenceConfig: { maxTokens: 500 },
    });
    expect(request.messages?.[0]).toBe(hello);
    expect(request.messages?.[2]?.content?.[0]).toBe(results.content?.[0]);
    expect(request.toolConfig).toBe(parent.toolConfig);
    expect(validateBedrock(request)).toEqual([]);
    expect(results.content).toHaveLength(2);
  });

  it('is a message of its own behind an answer of the assistant, or where there is nothing', () => {
    const answered = fork(input([hello, assistant({ text: 'Hi.' })]));
    expect(answered).toMatchObject({ request: { messages: [hello, {}, user({ text: 'Summarize.' })] }, changed: [] });
    expect(fork({ modelId: 'm' }).request.messages).toEqual([user({ text: 'Summarize.' })]);
  });

  it('stands before a system message at the end, and says so', () => {
    const system = { role: 'system', content: [{ text: 'Be quick.' }] };
    const { request, changed } = fork(input([hello, system]));
    expect(request.messages).toEqual([user({ text: 'Hello.' }, { text: 'Summarize.' }), system]);
    expect(changed).toEqual(['system-message-last']);
    expect(validateBedrock(request)).toEqual([]);
  });

  it.each([
    'us.meta.llama3-3-70b-instruct-v1:0',
    'mistral.mistral-large-2407-v1:0',
    'arn:aws:bedrock:us-east-1::foundation-model/meta.llama4',
  ])('stands in a turn of its own behind results, for models that take no text beside them: %s', (modelId) => {
    const parent = input([hello, call, user({ toolResult: { toolUseId: 'a', content: [] } })], { modelId });
    const { request, changed } = fork(parent);
    expect(changed).toEqual([]);
    expect(request.messages?.slice(0, 3)).toEqual(parent.messages);
    expect(request.messages?.slice(3)).toEqual([assistant({ text: 'I have the results.' }), user({ text: 'Summarize.' })]);
    expect(validateBedrock(request)).toEqual([]);
    expect(fork(input([hello], { modelId })).request.messages).toHaveLength(1);
  });
});

describe('the parameters of a summary request', () => {
  it('has room for the thinking that the parent allows', () => {
    const additionalModelRequestFields = { thinking: { type: 'enabled', budget_tokens: 2000 } };
    const parent = input([hello], { additionalModelRequestFields, inferenceConfig: { maxTokens: 4000, temperature: 1 } });
    const { request } = fork(parent);
    expect(request.inferenceConfig).toEqual({ maxTokens: 2500, temperature: 1 });
    expect(request.additionalModelRequestFields).toBe(additionalModelRequestFields);
    const older = { reasoning_config: { type: 'enabled', budget_tokens: 1024 } };
    expect(fork(input([hello], { additionalModelRequestFields: older })).request.inferenceConfig).toEqual({ maxTokens: 1524 });
    for (const odd of [{ thinking: { type: 'adaptive' } }, { thinking: { type: 'enabled', budget_tokens: Number.NaN } }, 'odd'])
      expect(fork(input([hello], { additionalModelRequestFields: odd })).request.inferenceConfig).toEqual({ maxTokens: 500 });
  });

  it('drops stop sequences, which are no part of the prompt', () => {
    const { request, changed } = fork(input([hello], { inferenceConfig: { stopSequences: ['END'], topP: 0.5 } }));
    expect(request.inferenceConfig).toEqual({ maxTokens: 500, topP: 0.5 });
    expect(changed).toEqual([]);
  });

  it('sets no output cap where the model refuses one', () => {
    const high = { additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } } };
    const nova = input([hello], { modelId: 'amazon.nova-2-lite-v1:0', ...high });
    expect(fork(nova).request).not.toHaveProperty('inferenceConfig');
    const stopped = fork(input([hello], { ...high, inferenceConfig: { stopSequences: ['END'] } }));
    expect(stopped.request.inferenceConfig).toEqual({});
    const prompt: BedrockInput = { modelId: 'arn:aws:bedrock:us-east-1:1:prompt/P:1', messages: [hello] };
    expect(fork(prompt).request).toEqual({ ...prompt, messages: [user({ text: 'Hello.' }, { text: 'Summarize.' })] });
  });

  it('relaxes a forced call and a forced format, and says so', () => {
    for (const toolChoice of [{ any: {} }, { tool: { name: 'read' } }]) {
      const { request, changed } = fork(input([hello], { toolConfig: { tools, toolChoice } }));
      expect(request.toolConfig).toEqual({ tools, toolChoice: { auto: {} } });
      expect(changed).toEqual(['toolChoice']);
    }
    const toolConfig = { tools, toolChoice: { auto: {} } };
    expect(fork(input([hello], { toolConfig })).request.toolConfig).toBe(toolConfig);
    const textFormat = { type: 'json_schema', structure: { jsonSchema: { schema: '{}' } } };
    const formatted = fork(input([hello], { outputConfig: { textFormat, effort: 'low' } }));
    expect(formatted).toMatchObject({ request: { outputConfig: { effort: 'low' } }, changed: ['outputConfig.textFormat'] });
    expect(formatted.request.outputConfig).not.toHaveProperty('textFormat');
    expect(fork(input([hello], { outputConfig: { textFormat } })).request).not.toHaveProperty('outputConfig');
    const effort = { effort: 'low' };
    expect(fork(input([hello], { outputConfig: effort })).request.outputConfig).toBe(effort);
  });

  it('B070: declares the tools of a history that lost them, and says so', () => {
    const { request, changed } = fork(input([hello, call, results], { toolConfig: undefined }));
    expect(request.toolConfig).toEqual({ tools });
    expect(changed).toEqual(['toolConfig']);
    expect(validateBedrock(request)).toEqual([]);
    expect(fork(input([hello], { toolConfig: undefined })).request.toolConfig).toBeUndefined();
  });

  it('brings turns in order that the provider would refuse, and says so', () => {
    const { request, changed } = fork(input([hello, user(), hello, assistant({ text: 'a' }), assistant({ text: 'b' })]));
    expect(request.messages).toEqual([
      user({ text: 'Hello.' }, { text: 'Hello.' }),
      assistant({ text: 'a' }, { text: 'b' }),
      user({ text: 'Summarize.' }),
    ]);
    expect(changed).toEqual(['order of turns']);
  });

  it('changes nothing of the parent', () => {
    const parent = input([hello, call, results], {
      inferenceConfig: { maxTokens: 9, stopSequences: ['END'] },
      toolConfig: { tools, toolChoice: { any: {} } },
    });
    const before = structuredClone(parent);
    fork(parent);
    expect(parent).toEqual(before);
  });
});
