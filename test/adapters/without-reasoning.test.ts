import { createOpenAI } from '@ai-sdk/openai';
import { AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { convertMessagesToResponsesInput } from '@langchain/openai';
import { describe, expect, it } from 'vitest';
import { type AiSdkMessage, aiSdkModel } from '../../src/adapters/ai-sdk.ts';
import { anthropicMessages } from '../../src/adapters/anthropic.ts';
import { bedrockConverse } from '../../src/adapters/bedrock.ts';
import { type GenkitMessage, genkitModel } from '../../src/adapters/genkit.ts';
import { type GeminiContent, geminiContents } from '../../src/adapters/google-genai.ts';
import { langchainMessages } from '../../src/adapters/langchain.ts';
import { type ChatMessage, openaiChat } from '../../src/adapters/openai-chat.ts';
import { openaiCodex } from '../../src/adapters/openai-codex.ts';
import { openaiResponses, type ResponsesItem } from '../../src/adapters/openai-responses.ts';
import { freezeDeep as freeze } from '../support/freeze.ts';

// Literals with more fields than the shapes name.
const fields = <Value extends object>(value: Value & Record<string, unknown>): Value => freeze(value);

describe('an item without its reasoning', () => {
  it('of Anthropic has neither thinking nor what is redacted of it', () => {
    const { withoutReasoning } = anthropicMessages();
    const thinking = [
      fields({ type: 'thinking', thinking: 'Hm.', signature: 's' }),
      fields({ type: 'redacted_thinking', data: 'd' }),
    ];
    const text = fields({ type: 'text', text: 'Yes.' });
    const call = fields({ type: 'tool_use', id: 't1', name: 'read', input: {} });
    const bare = withoutReasoning({ role: 'assistant', content: [...thinking, text, ...thinking, call] });
    expect(bare).toEqual({ role: 'assistant', content: [text, call] });
    expect(bare?.content?.[0]).toBe(text);
    expect(withoutReasoning({ role: 'assistant', content: thinking })).toBeUndefined();
    for (const content of ['Yes.', [text, call], undefined]) {
      const item = { role: 'assistant', content };
      expect(withoutReasoning(item)).toBe(item);
    }
  });

  it('of Bedrock leaves no cache point by itself', () => {
    const { withoutReasoning } = bedrockConverse();
    const thought = { reasoningContent: { reasoningText: { text: 'Hm.', signature: 's' } } };
    const redacted = { reasoningContent: { redactedContent: new Uint8Array([1]) } };
    const point = { cachePoint: { type: 'default' } };
    const content = [thought, redacted, { text: 'Yes.' }, point];
    expect(withoutReasoning({ role: 'assistant', content })).toEqual({ role: 'assistant', content: content.slice(2) });
    expect(withoutReasoning({ role: 'assistant', content: [redacted, point] })).toBeUndefined();
    const whole = { role: 'assistant', content: [{ text: 'Yes.' }] };
    expect(withoutReasoning(whole)).toBe(whole);
  });

  it.each([
    { reasoning: 'Hm.' },
    { reasoning_content: 'Hm.' },
    { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] },
    { reasoning_text: 'Hm.', reasoning_opaque: 'x' },
    { thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }] },
  ])('of Chat Completions has none of %j', (reasoning) => {
    const { withoutReasoning } = openaiChat();
    const call = { id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' }, extra_content: { signature: 'g' } };
    const plain: ChatMessage = { role: 'assistant', content: null, tool_calls: [call] };
    expect(withoutReasoning(freeze({ ...plain, ...reasoning }))).toEqual(plain);
    expect(withoutReasoning({ role: 'assistant', content: '', ...reasoning })).toBeUndefined();
    expect(withoutReasoning(plain)).toBe(plain);
    const said = { role: 'user', content: 'Hi.', ...reasoning };
    expect(withoutReasoning(said)).toBe(said);
  });

  it('of Chat Completions has no parts of it, and fields that say nothing stay', () => {
    const { withoutReasoning } = openaiChat();
    const text = { type: 'text', text: 'Yes.' };
    const content = [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }, text];
    expect(withoutReasoning({ role: 'assistant', content })).toEqual({ role: 'assistant', content: [text] });
    const silent = fields<ChatMessage>({ role: 'assistant', content: 'Yes.', reasoning: null, reasoning_details: [] });
    expect(withoutReasoning(silent)).toBe(silent);
  });

  it.each([openaiResponses(), openaiCodex()])(
    'B021: of $name is none, and what it led to is untied in the request',
    ({ withoutReasoning, withItems }) => {
      const reasoning: ResponsesItem = { type: 'reasoning', id: 'rs_1', summary: [] };
      const call: ResponsesItem = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'read', arguments: '{}' };
      const message: ResponsesItem = { type: 'message', id: 'msg_1', role: 'assistant', content: [], status: 'completed' };
      expect(withoutReasoning(reasoning)).toBeUndefined();
      expect(withoutReasoning(call)).toBe(call);
      const request = { model: 'gpt-5', input: [reasoning, call, message] };
      const input = withItems(request, [call, message]).input;
      expect(input).toEqual([{ type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' }, message]);
    },
  );

  it('of Gemini keeps the signatures of calls, which the provider demands', () => {
    const { withoutReasoning } = geminiContents();
    const thought = { text: 'Hm.', thought: true };
    const image = { inlineData: { mimeType: 'image/png', data: 'AA==' }, thought: true };
    const call = { functionCall: { name: 'read', args: {} }, thoughtSignature: 'c2ln' };
    const content: GeminiContent = freeze({ role: 'model', parts: [thought, image, call] });
    expect(withoutReasoning(content)).toEqual({ role: 'model', parts: [call] });
    expect(withoutReasoning({ role: 'model', parts: [thought, { text: '', thoughtSignature: 'c2ln' }] })).toBeUndefined();
    for (const parts of [[call], [{ text: '', thoughtSignature: 'c2ln' }], undefined]) {
      const whole: GeminiContent = { role: 'model', parts };
      expect(withoutReasoning(whole)).toBe(whole);
    }
  });

  it('of Genkit has neither reasoning nor what is redacted of it', () => {
    const { withoutReasoning } = genkitModel();
    const call = { toolRequest: { name: 'read', ref: 'c1', input: {} }, metadata: { thoughtSignature: 'c2ln' } };
    const thoughts = [{ reasoning: 'Hm.', metadata: { thoughtSignature: 's' } }, { custom: { redactedThinking: 'd' } }];
    const item: GenkitMessage = freeze({ role: 'model', content: [...thoughts, call], metadata: { kept: true } });
    expect(withoutReasoning(item)).toEqual({ role: 'model', content: [call], metadata: { kept: true } });
    expect(
      withoutReasoning({ role: 'model', content: [...thoughts, { text: '', metadata: { thoughtSignature: 's' } }] }),
    ).toBeUndefined();
    const whole: GenkitMessage = { role: 'model', content: [call] };
    expect(withoutReasoning(whole)).toBe(whole);
  });
});

describe('an item of the AI SDK without its reasoning', () => {
  const { withoutReasoning } = aiSdkModel();
  const openai = (itemId: string) => ({ openai: { itemId } });
  const reasoning = { type: 'reasoning', text: 'Hm.', providerOptions: openai('rs_1') };
  const search = { type: 'tool-call', toolCallId: 'ws_1', toolName: 'web_search', input: {}, providerExecuted: true };
  const found = { type: 'tool-result', toolCallId: 'ws_1', toolName: 'web_search', output: { type: 'json', value: {} } };
  const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'read', input: {}, providerOptions: openai('fc_1') };
  const text = { type: 'text', text: 'Yes.', providerOptions: openai('msg_1') };

  it('is the very same where there is none, and none where there was nothing else', () => {
    for (const item of [
      { role: 'assistant', content: [text, call] },
      { role: 'user', content: [text] },
      { role: 'system', content: 'Be exact.' },
    ])
      expect(withoutReasoning(item)).toBe(item);
    expect(withoutReasoning({ role: 'assistant', content: [reasoning, reasoning] })).toBeUndefined();
  });

  it('B021: has no id behind it by which the server would look for it', () => {
    const item: AiSdkMessage = freeze({ role: 'assistant', content: [reasoning, call, text] });
    const { providerOptions: _tied, ...untied } = call;
    expect(withoutReasoning(item)).toEqual({ role: 'assistant', content: [untied, text] });
    const { providerOptions: _id, ...said } = text;
    const signed = { ...text, providerOptions: { openai: { itemId: 'msg_1', phase: 'final_answer' } } };
    expect(withoutReasoning({ role: 'assistant', content: [reasoning, signed] })?.content).toEqual([
      { ...said, providerOptions: { openai: { phase: 'final_answer' } } },
    ]);
  });

  it('has no call that the provider ran because of it', () => {
    const ran = { ...search, providerOptions: openai('ws_1') };
    expect(withoutReasoning({ role: 'assistant', content: [reasoning, ran, found, text] })?.content).toEqual([text]);
    expect(withoutReasoning({ role: 'assistant', content: [reasoning, search, found, text] })?.content).toEqual([
      search,
      found,
      text,
    ]);
  });

  it('goes out through the provider without a trace of it', async () => {
    let body = '';
    const provider = createOpenAI({
      apiKey: 'test',
      fetch: async (_url, init) => {
        body = String(init?.body);
        return new Response('{}', { status: 400 });
      },
    });
    const content = [
      { ...reasoning, providerOptions: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'e' } } },
      call,
    ] as const;
    const bare = withoutReasoning({ role: 'assistant', content });
    const result = { type: 'tool-result', toolCallId: 'c1', toolName: 'read', output: { type: 'text', value: 'x' } };
    const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Go.' }] }, bare, { role: 'tool', content: [result] }];
    // The items of the adapter are the SDK's own.
    const generate = async () => provider.responses('gpt-5').doGenerate({ prompt: prompt as never });
    await expect(generate()).rejects.toThrow();
    expect(body).toContain('"call_id":"c1"');
    expect(body).not.toMatch(/rs_1|fc_1|item_reference|reasoning"/);
  });
});

describe('a message of LangChain without its reasoning', () => {
  const { withoutReasoning } = langchainMessages({ HumanMessage, AIMessage, ToolMessage, SystemMessage });
  const tool_calls = [{ type: 'tool_call' as const, id: 'c1', name: 'read', args: {} }];

  it('is the very same where there is none', () => {
    const messages = [
      new HumanMessage('Hi.'),
      new AIMessage({ content: 'Yes.', tool_calls, additional_kwargs: { reasoning_content: '' } }),
      new ToolMessage({ content: 'x', tool_call_id: 'c1' }),
      { role: 'assistant', content: 'Yes.' },
    ];
    for (const message of messages) expect(withoutReasoning(message)).toBe(message);
  });

  it.each([
    { type: 'thinking', thinking: 'Hm.', signature: 's' },
    { type: 'redacted_thinking', data: 'd' },
    { type: 'reasoning', reasoning: 'Hm.' },
    { type: 'reasoning_content', reasoningText: { text: 'Hm.', signature: 's' } },
    { type: 'text', text: 'Hm.', thought: true },
  ])('has none of its blocks: $type', (block) => {
    const said = { type: 'text', text: 'Yes.' };
    const message = new AIMessage({ content: [block, said], tool_calls });
    const bare = withoutReasoning(message);
    expect(bare).toBeInstanceOf(AIMessage);
    expect(bare).toMatchObject({ content: [said], tool_calls });
    expect(message.content).toHaveLength(2);
    expect(withoutReasoning(new AIMessageChunk({ content: [block] }))).toBeUndefined();
    expect(withoutReasoning({ role: 'assistant', content: [block, said] })).toEqual({ role: 'assistant', content: [said] });
  });

  it('has none beside its content, and the rest stays', () => {
    const additional_kwargs = { reasoning_content: 'Hm.', reasoning_details: [1], refusal: 'No.' };
    const bare = withoutReasoning(new AIMessage({ content: '', additional_kwargs }));
    expect(bare).toMatchObject({ additional_kwargs: { refusal: 'No.' } });
    expect(bare).not.toHaveProperty('additional_kwargs.reasoning_content');
    expect(bare).not.toHaveProperty('lc_kwargs.additional_kwargs.reasoning_content');
  });

  it('keeps the signature of each block at its place', () => {
    const content = [
      { type: 'reasoning', reasoning: 'Hm.' },
      { type: 'text', text: 'Yes.' },
    ];
    const bare = withoutReasoning(new AIMessage({ content, additional_kwargs: { signatures: ['one', 'two'] } }));
    expect(bare).toMatchObject({ additional_kwargs: { signatures: ['two'] } });
  });

  it.each([
    [
      'as the reply put it out',
      {
        response_metadata: {
          output: [
            { type: 'reasoning', id: 'rs_1', summary: [] },
            { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'read', arguments: '{}' },
          ],
        },
      },
    ],
    ['put together', {}],
  ])('B021: goes to OpenAI without a trace of it, %s', (_, more) => {
    const message = new AIMessage({
      content: 'Yes.',
      id: 'msg_1',
      tool_calls,
      additional_kwargs: {
        reasoning: { type: 'reasoning', id: 'rs_1', summary: [] },
        __openai_function_call_ids__: { c1: 'fc_1' },
      },
      ...more,
    });
    const send = (sent: unknown) =>
      JSON.stringify(convertMessagesToResponsesInput({ messages: [sent as AIMessage], zdrEnabled: false, model: 'gpt-5' }));
    expect(send(message)).toMatch(/rs_1.*fc_1/);
    const bare = send(withoutReasoning(message));
    expect(bare).toContain('"call_id":"c1"');
    expect(bare).not.toMatch(/rs_1|fc_1|msg_1/);
  });
});
