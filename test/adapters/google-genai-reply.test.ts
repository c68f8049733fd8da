import { describe, expect, it } from 'vitest';
import { type GeminiReply, geminiContents } from '../../src/adapters/google-genai.ts';
import { isCompactionError } from '../../src/errors.ts';

const adapter = geminiContents();
// Replies hold more than the fields that the adapter names.
const reply = (parts: unknown, finishReason?: string, more: object = {}): GeminiReply =>
  ({ candidates: [{ content: { role: 'model', parts }, finishReason }], ...more }) as GeminiReply;
async function* stream(...chunks: unknown[]): AsyncGenerator<object> {
  yield* chunks as object[];
}

describe('readReply', () => {
  it('gives the very content of a reply', async () => {
    const whole = reply([{ text: 'Done.' }], 'STOP');
    const { items } = await adapter.readReply(whole);
    expect(items[0]).toBe('candidates' in whole && whole.candidates?.[0]?.content);
    const withoutRole = { candidates: [{ content: { parts: [{ text: 'Done.' }] }, finishReason: 'STOP' }] };
    expect((await adapter.readReply(withoutRole)).items).toEqual([{ role: 'model', parts: [{ text: 'Done.' }] }]);
  });

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['CONTINUATION', 'pause'],
    ['SAFETY', 'content-filter'],
    ['RECITATION', 'content-filter'],
    ['BLOCKLIST', 'content-filter'],
    ['SPII', 'content-filter'],
    ['MODEL_ARMOR', 'content-filter'],
    ['UNEXPECTED_TOOL_CALL', 'other'],
    ['MALFORMED_FUNCTION_CALL', 'other'],
    ['LANGUAGE', 'other'],
    ['FINISH_REASON_UNSPECIFIED', 'other'],
    ['SOMETHING_NEW', 'other'],
    [undefined, 'incomplete'],
  ])('takes %s for %s', async (finishReason, finish) => {
    expect((await adapter.readReply(reply([{ text: 'Done.' }], finishReason))).finish).toBe(finish);
    expect((await adapter.readReply(stream(reply([{ text: 'Done.' }], finishReason)))).finish).toBe(finish);
  });

  it('takes the visible text after the last tool activity', async () => {
    const text = async (...parts: object[]): Promise<string> => (await adapter.readReply(reply(parts, 'STOP'))).text;
    expect(await text({ text: 'Hm.', thought: true }, { text: 'One. ' }, { text: 'Two.' })).toBe('One. Two.');
    expect(await text({ text: 'Let me look.' }, { functionCall: { name: 'read' } })).toBe('');
    const code = [{ executableCode: { code: '1' } }, { codeExecutionResult: { output: '1' } }];
    expect(await text({ text: 'Let me count.' }, ...code, { text: 'One.' })).toBe('One.');
    expect(await text({ text: 'Let me search.' }, { toolCall: {} }, { toolResponse: {} }, { text: 'Found.' })).toBe('Found.');
  });

  it('calls the caller where the model does, whatever it says of its end', async () => {
    const call = { functionCall: { name: 'read', args: { path: 'a.ts' } }, thoughtSignature: 'c2ln' };
    const summary = await adapter.readReply(reply([call, { functionCall: { id: 'c2', name: 'read' } }], 'STOP'));
    expect(summary).toMatchObject({ finish: 'tool-calls', calls: [{ name: 'read', input: { path: 'a.ts' } }, { id: 'c2' }] });
    expect((await adapter.readReply(reply([call], 'MAX_TOKENS'))).finish).toBe('length');
  });

  it('does not take a call whose arguments come in pieces for a whole one', async () => {
    for (const piece of [{ willContinue: true }, { partialArgs: [{ jsonPath: '$.path', stringValue: 'a' }] }]) {
      const part = { functionCall: { name: 'read', ...piece } };
      expect((await adapter.readReply(stream(reply([part]), reply([], 'STOP')))).finish).toBe('incomplete');
    }
  });

  it('has no item where the model said nothing but thoughts', async () => {
    for (const parts of [[], undefined, [{ text: 'Hm.', thought: true }], [{ text: '' }]]) {
      expect(await adapter.readReply(reply(parts, 'MAX_TOKENS'))).toMatchObject({ items: [], text: '', finish: 'length' });
      expect((await adapter.readReply(stream(reply(parts, 'MAX_TOKENS')))).items).toEqual([]);
    }
  });

  it('puts a stream together: texts that follow each other are one, signed ones stay by themselves', async () => {
    const call = { functionCall: { id: 'c1', name: 'read', args: {} }, thoughtSignature: 'Yg==' };
    const pieces = [
      { text: 'H', thought: true },
      { text: 'm.', thought: true },
      { text: 'One ' },
      { text: 'two ' },
      { text: 'three.', thoughtSignature: 'YQ==' },
      { text: 'Four.' },
      call,
      { text: '', thoughtSignature: 'Yw==' },
      { text: '' },
    ];
    const frozen = pieces.map((part) => Object.freeze({ ...part }));
    const heard: string[] = [];
    const summary = await adapter.readReply(
      stream(...frozen.map((part) => reply([part])), null, { candidates: [] }, reply([], 'STOP')),
      { onText: (piece) => heard.push(piece) },
    );
    expect(summary.items).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true },
          { text: 'One two ' },
          { text: 'three.', thoughtSignature: 'YQ==' },
          { text: 'Four.' },
          call,
          { text: '', thoughtSignature: 'Yw==' },
        ],
      },
    ]);
    expect(heard).toEqual(['One ', 'two ', 'three.', 'Four.']);
  });

  it('takes the first of several candidates', async () => {
    const candidates = [
      { index: 1, content: { role: 'model', parts: [{ text: 'Second.' }] }, finishReason: 'STOP' },
      { index: 0, content: { role: 'model', parts: [{ text: 'First.' }] }, finishReason: 'MAX_TOKENS' },
    ];
    for (const several of [{ candidates }, stream({ candidates })])
      expect(await adapter.readReply(several)).toMatchObject({ text: 'First.', finish: 'length' });
  });

  it('takes a blocked prompt for what it is', async () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' } };
    for (const refused of [blocked, stream(blocked)])
      expect(await adapter.readReply(refused)).toMatchObject({ finish: 'content-filter', items: [], text: '' });
    expect(await adapter.readReply({ candidates: [] })).toMatchObject({ finish: 'incomplete', items: [] });
  });

  it('rejects with an error that comes as a reply', async () => {
    const error = { code: 429, message: 'Resource has been exhausted (e.g. check quota).', status: 'RESOURCE_EXHAUSTED' };
    for (const failed of [{ error } as GeminiReply, stream(reply([{ text: 'Do' }]), { error })]) {
      const thrown = await adapter.readReply(failed).catch((reason: unknown) => reason);
      expect(thrown).toMatchObject({ message: /exhausted/ });
      expect(adapter.classifyError(thrown)).toEqual({ kind: 'retryable' });
    }
  });

  it.each([undefined, null, 'Done.', 5, {}, { text: 'Done.' }])('refuses what is no reply: %j', async (odd) => {
    const error = await adapter.readReply(odd as never).catch((reason: unknown) => reason);
    expect(isCompactionError(error) && error.code).toBe('invalid-request');
  });

  it('rejects with the reason of an abort that came before', async () => {
    const reason = new Error('enough');
    await expect(adapter.readReply(reply([], 'STOP'), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('usage', () => {
  const usageOf = (usageMetadata: unknown, more: object = {}) => adapter.usage(reply([], 'STOP', { usageMetadata, ...more }));

  it('B141: counts cached tokens once, and the prompts of tools and the thoughts beside the rest', () => {
    const counts = {
      promptTokenCount: 1000,
      cachedContentTokenCount: 850,
      toolUsePromptTokenCount: 20,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 3,
    };
    // The total is what the provider makes of it. B148
    expect(usageOf({ ...counts, totalTokenCount: 99_999 })).toEqual({
      inputTokens: 1020,
      outputTokens: 8,
      cachedInputTokens: 850,
      reasoningTokens: 3,
    });
    expect(usageOf({ promptTokenCount: 7 })).toEqual({ inputTokens: 7, outputTokens: 0 });
  });

  it.each([
    undefined,
    null,
    'many',
    {},
    { promptTokenCount: 0, candidatesTokenCount: 5 },
    { promptTokenCount: Number.NaN },
    { promptTokenCount: -1 },
    { promptTokenCount: '9' },
    { promptTokenCount: 9, candidatesTokenCount: Number.POSITIVE_INFINITY },
    { candidatesTokenCount: 5 },
  ])('B145: takes what is no measurement for none: %j', (usageMetadata) => {
    expect(usageOf(usageMetadata)).toBeUndefined();
  });

  it('leaves out a cache that is larger than the prompt', () => {
    expect(usageOf({ promptTokenCount: 9, cachedContentTokenCount: 10 })).toEqual({ inputTokens: 9, outputTokens: 0 });
  });

  it('is not read where the SDK ran tools by itself, nor from a stream', () => {
    const usageMetadata = { promptTokenCount: 9 };
    expect(usageOf(usageMetadata, { automaticFunctionCallingHistory: [{ role: 'user' }] })).toBeUndefined();
    expect(usageOf(usageMetadata, { automaticFunctionCallingHistory: [] })).toBeDefined();
    expect(adapter.usage(stream({ usageMetadata }))).toBeUndefined();
    expect(adapter.usage(null as never)).toBeUndefined();
  });

  it('is that of the last piece of a stream that has one', async () => {
    const { usage } = await adapter.readReply(
      stream(
        reply([{ text: 'Do' }], undefined, { usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1 } }),
        reply([{ text: 'ne.' }], 'STOP', { usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2 } }),
        {},
      ),
    );
    expect(usage).toEqual({ inputTokens: 9, outputTokens: 2 });
  });
});
