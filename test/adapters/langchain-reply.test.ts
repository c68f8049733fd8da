import { AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';
import { type LangchainReply, langchainMessages } from '../../src/adapters/langchain.ts';

const adapter = langchainMessages({ HumanMessage, AIMessage, ToolMessage, SystemMessage });
const call = { type: 'tool_call' as const, id: 'c1', name: 'read', args: { path: 'a.ts' } };
const said = (response_metadata: object, fields: object = {}): AIMessage =>
  new AIMessage({ content: 'Yes.', response_metadata: { ...response_metadata }, ...fields });

async function* streamOf(...chunks: AIMessageChunk[]): AsyncGenerator<AIMessageChunk> {
  yield* chunks;
}

describe('how a reply ended', () => {
  it.each([
    // OpenAI and its like, Ollama, Cohere, Google
    ['stop', { finish_reason: 'stop' }],
    ['stop', { done_reason: 'stop' }],
    ['stop', { finish_reason: 'COMPLETE' }],
    ['stop', { finishReason: 'STOP' }],
    ['length', { finishReason: 'MAX_TOKENS' }],
    ['content-filter', { finishReason: 'SAFETY' }],
    // Anthropic, Bedrock
    ['stop', { stop_reason: 'end_turn' }],
    ['length', { stop_reason: 'max_tokens' }],
    ['refusal', { stop_reason: 'refusal' }],
    ['pause', { stop_reason: 'pause_turn' }],
    ['overflow', { stop_reason: 'model_context_window_exceeded' }],
    ['stop', { stopReason: 'end_turn' }],
    ['content-filter', { stopReason: 'guardrail_intervened' }],
    ['stop', { messageStop: { stopReason: 'end_turn' } }],
    // Responses
    ['stop', { status: 'completed', incomplete_details: null }],
    ['length', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }],
    ['incomplete', { status: 'in_progress' }],
    ['incomplete', { status: 'incomplete' }],
    ['incomplete', {}],
    ['other', { finish_reason: 'malformed_function_call' }],
  ])('is read as %s from %o', async (finish, metadata) => {
    expect((await adapter.readReply(said(metadata))).finish).toBe(finish);
  });

  it('is where the package for Anthropic puts it when it streams', async () => {
    const chunks = streamOf(
      new AIMessageChunk({ content: [], additional_kwargs: { model: 'claude' } }),
      new AIMessageChunk({ content: [{ type: 'text', text: 'Yes', index: 0 }] }),
      new AIMessageChunk({ content: [{ type: 'text', text: '.', index: 0 }] }),
      new AIMessageChunk({ content: [], additional_kwargs: { stop_reason: 'end_turn' } }),
    );
    expect(await adapter.readReply(chunks)).toMatchObject({ text: 'Yes.', finish: 'stop' });
  });

  it('is a refusal where one is in it, and calls where there are some', async () => {
    const refused = said({ finish_reason: 'stop' }, { additional_kwargs: { refusal: 'No.' } });
    expect((await adapter.readReply(refused)).finish).toBe('refusal');
    const standard = said({ finish_reason: 'stop' }, { content: [{ type: 'refusal', refusal: '' }] });
    expect((await adapter.readReply(standard)).finish).toBe('refusal');
    const calling = said({ finish_reason: 'STOP' }, { tool_calls: [call] });
    expect(await adapter.readReply(calling)).toMatchObject({ finish: 'tool-calls', text: '', calls: [{ id: 'c1' }] });
  });
});

describe('the text of a reply', () => {
  it('is what comes after the last thing that a tool of the provider did', async () => {
    const content = [
      { type: 'text', text: 'I will search.' },
      { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
      { type: 'text', text: 'It is ' },
      { type: 'text', text: 'blue.' },
      { type: 'reasoning', reasoning: 'Hm.' },
      { type: 'text', text: 'Or green.' },
    ];
    const reply = said({ stop_reason: 'end_turn' }, { content });
    expect((await adapter.readReply(reply)).text).toBe('It is blue.\n\nOr green.');
  });

  it('comes in pieces from a stream, and in one from an object', async () => {
    const pieces: string[] = [];
    const onText = (piece: string): void => void pieces.push(piece);
    const chunks = ['It ', 'is.'].map((content) => new AIMessageChunk({ content }));
    const end = new AIMessageChunk({ content: '', response_metadata: { finish_reason: 'stop' } });
    expect(await adapter.readReply(streamOf(...chunks, end), { onText })).toMatchObject({ text: 'It is.', finish: 'stop' });
    await adapter.readReply(said({ finish_reason: 'stop' }), { onText });
    expect(pieces).toEqual(['It ', 'is.', 'Yes.']);
  });
});

describe('what a reply adds to the conversation', () => {
  it('is the message itself', async () => {
    const reply = said({ finish_reason: 'stop' });
    expect((await adapter.readReply(reply)).items[0]).toBe(reply);
  });

  it('B184, B186: is what a provider takes of a reply that was cut', async () => {
    const cut = said(
      {},
      {
        content: [
          { type: 'thinking', thinking: 'Hm' },
          { type: 'text', text: 'Yes' },
        ],
      },
    );
    const { items, finish } = await adapter.readReply(cut);
    expect(finish).toBe('incomplete');
    expect(items).toMatchObject([{ content: [{ type: 'text', text: 'Yes' }] }]);
    expect((await adapter.readReply(said({}, { content: '' }))).items).toEqual([]);
    expect(await adapter.readReply(streamOf())).toEqual({ text: '', finish: 'incomplete', calls: [], items: [] });
  });
});

describe('the usage of a reply', () => {
  const usageOf = (usage_metadata: object | undefined): unknown => adapter.usage({ type: 'ai', content: '', usage_metadata });

  it('B141: holds the cached tokens already', () => {
    const details = { input_token_details: { cache_read: 400, cache_creation: 100 }, output_token_details: { reasoning: 7 } };
    expect(usageOf({ input_tokens: 1000, output_tokens: 50, total_tokens: 1050, ...details })).toEqual({
      inputTokens: 1000,
      outputTokens: 50,
      cachedInputTokens: 400,
      cacheWriteTokens: 100,
      reasoningTokens: 7,
    });
  });

  it('does not hold them in older packages for Anthropic, which the parts tell', () => {
    const details = { input_token_details: { cache_read: 9000, cache_creation: 100 } };
    expect(usageOf({ input_tokens: 20, output_tokens: 50, ...details })).toMatchObject({
      inputTokens: 9120,
      cachedInputTokens: 9000,
    });
  });

  it('B145: is none where nothing was counted', () => {
    for (const usage of [
      undefined,
      {},
      { input_tokens: 0, output_tokens: 0 },
      { input_tokens: '7', output_tokens: 1 },
      { input_token_details: {} },
    ])
      expect(usageOf(usage)).toBeUndefined();
  });
});

describe('an odd reply', () => {
  it.each([undefined, null, 'Yes.', 7, [], {}, new HumanMessage('Yes.'), { structuredResponse: {}, messages: [] }])(
    'is refused with an error that says what it is: %o',
    async (reply) => {
      // Whatever a host's `send` may return.
      await expect(adapter.readReply(reply as LangchainReply)).rejects.toMatchObject({
        code: 'invalid-request',
        provider: 'langchain',
      });
      expect(adapter.usage(reply as LangchainReply)).toBeUndefined();
    },
  );

  it('is not read once it is aborted', async () => {
    const reason = new Error('enough');
    const hanging: AsyncIterable<AIMessageChunk> = { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) };
    const controller = new AbortController();
    const reading = adapter.readReply(hanging, { signal: controller.signal });
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
    await expect(adapter.readReply(said({}), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
