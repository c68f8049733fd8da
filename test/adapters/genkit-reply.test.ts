import { GenerateResponse, GenkitError, Message } from 'genkit';
import { describe, expect, it } from 'vitest';
import { type GenkitReply, genkitModel } from '../../src/adapters/genkit.ts';
import { freezeDeep } from '../support/freeze.ts';

const adapter = genkitModel();
const reply = (content: object[], finishReason?: string): GenkitReply => ({
  message: { role: 'model', content },
  ...(finishReason !== undefined && { finishReason }),
});
const finishOf = async (value: GenkitReply) => (await adapter.readReply(value)).finish;
const call = { toolRequest: { name: 'read', ref: 'a', input: { path: 'x' } } };

describe('reading a reply', () => {
  it('gives text, calls and the message itself', async () => {
    const whole = freezeDeep(reply([{ reasoning: 'Hm.' }, { text: 'Fi' }, { text: 'ne.' }], 'stop'));
    const pieces: string[] = [];
    const read = await adapter.readReply(whole, { onText: (piece) => pieces.push(piece) });
    expect(read).toMatchObject({ text: 'Fine.', finish: 'stop', calls: [] });
    expect(read.items[0]).toBe(whole.message);
    expect(pieces).toEqual(['Fine.']);
  });

  it('takes `stop` with calls for what it is', async () => {
    const read = await adapter.readReply(reply([{ text: 'I will look.' }, call], 'stop'));
    expect(read).toMatchObject({ text: '', finish: 'tool-calls', calls: [{ id: 'a', name: 'read', input: { path: 'x' } }] });
  });

  it('counts only text after the last tool activity, those of the provider too', async () => {
    expect(
      (await adapter.readReply(reply([{ text: 'a' }, { custom: { codeExecutionResult: {} } }, { text: 'b' }], 'stop'))).text,
    ).toBe('b');
    expect(
      (await adapter.readReply(reply([{ text: '[result]', custom: { anthropicServerToolResult: {} } }, { text: 'b' }], 'stop')))
        .text,
    ).toBe('b');
    expect(
      (await adapter.readReply(reply([{ text: 'a' }, { custom: { redactedThinking: 'x' } }, { text: 'b' }], 'stop'))).text,
    ).toBe('ab');
  });

  it('reads every ending', async () => {
    const endings = ['stop', 'length', 'blocked', 'interrupted', 'aborted', 'unknown', 'failed', 'other', 'new', undefined];
    expect(await Promise.all(endings.map((ending) => finishOf(reply([{ text: 'a' }], ending))))).toEqual([
      'stop',
      'length',
      'content-filter',
      'pause',
      'incomplete',
      'incomplete',
      'other',
      'other',
      'other',
      'incomplete',
    ]);
    expect(await finishOf(reply([call], 'interrupted'))).toBe('tool-calls');
    expect(await finishOf(reply([call], 'length'))).toBe('length');
  });

  it('reads the older form, and a `GenerateResponse`', async () => {
    const message = { role: 'model' as const, content: [{ text: 'Fine.' }] };
    expect(await adapter.readReply({ candidates: [{ message, finishReason: 'stop' }] })).toMatchObject({
      text: 'Fine.',
      finish: 'stop',
    });
    const response = new GenerateResponse({ message, finishReason: 'stop', usage: { inputTokens: 5, outputTokens: 1 } });
    const read = await adapter.readReply(response);
    expect(read).toMatchObject({ text: 'Fine.', finish: 'stop', usage: { inputTokens: 5, outputTokens: 1 } });
    expect(read.items).toStrictEqual([message]);
    expect(read.items[0]).not.toBeInstanceOf(Message);
  });

  it('B184: gives back no message that cannot be sent', async () => {
    expect((await adapter.readReply(reply([], 'stop'))).items).toEqual([]);
    expect((await adapter.readReply(reply([{ reasoning: 'Hm.' }], 'length'))).items).toEqual([]);
    expect((await adapter.readReply(reply([{ text: '' }, { text: 'a' }], 'length'))).items).toEqual([
      { role: 'model', content: [{ text: 'a' }] },
    ]);
    expect(await adapter.readReply({ finishReason: 'blocked' })).toMatchObject({ text: '', finish: 'content-filter', items: [] });
  });

  it('is refused where it is no reply', async () => {
    for (const odd of [undefined, null, 'text', {}, { operation: { id: '1' } }, { message: 'text' }])
      await expect(adapter.readReply(odd as GenkitReply)).rejects.toMatchObject({ code: 'invalid-request' });
  });

  it('stops at an abort', async () => {
    const reason = new Error('enough');
    await expect(adapter.readReply(reply([{ text: 'a' }], 'stop'), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('usage', () => {
  const usageOf = (usage: object) => adapter.usage({ usage });
  const fromPlugin = (fields: { usage: object; raw?: object; custom?: object }): GenkitReply => fields;

  it('B141: counts cached tokens once', () => {
    expect(usageOf({ inputTokens: 184_704, outputTokens: 49, cachedContentTokens: 183_936 })).toEqual({
      inputTokens: 184_704,
      outputTokens: 49,
      cachedInputTokens: 183_936,
    });
  });

  it('adds what the plugin for Anthropic tells beside the input', () => {
    const custom = { cache_read_input_tokens: 900, cache_creation_input_tokens: 50, ephemeral_5m_input_tokens: 50 };
    expect(usageOf({ inputTokens: 50, outputTokens: 5, custom })).toEqual({
      inputTokens: 1000,
      outputTokens: 5,
      cachedInputTokens: 900,
      cacheWriteTokens: 50,
    });
  });

  it('finds what it does not tell in the reply of the provider', () => {
    const usage = { inputTokens: 50, outputTokens: 5 };
    const anthropic = {
      id: 'msg_1',
      usage: { input_tokens: 50, cache_read_input_tokens: 900, cache_creation_input_tokens: null },
    };
    const read = { inputTokens: 950, outputTokens: 5, cachedInputTokens: 900 };
    expect(adapter.usage(fromPlugin({ usage, custom: anthropic }))).toEqual(read);
    expect(adapter.usage(fromPlugin({ usage, raw: anthropic }))).toEqual(read);
    // A count that holds the rest already.
    expect(adapter.usage(fromPlugin({ usage: { inputTokens: 950, outputTokens: 5 }, raw: anthropic }))).toEqual({
      inputTokens: 950,
      outputTokens: 5,
    });
    const openai = { usage: { prompt_tokens: 50, prompt_tokens_details: { cached_tokens: 32 } } };
    expect(adapter.usage(fromPlugin({ usage, raw: openai }))).toEqual({
      inputTokens: 50,
      outputTokens: 5,
      cachedInputTokens: 32,
    });
  });

  it('counts thoughts once, in the output or beside it', () => {
    const usage = { inputTokens: 100, outputTokens: 50, thoughtsTokens: 20 };
    expect(usageOf({ ...usage, totalTokens: 150 })).toEqual({ inputTokens: 100, outputTokens: 50, reasoningTokens: 20 });
    expect(usageOf({ ...usage, totalTokens: 170 })).toEqual({ inputTokens: 100, outputTokens: 70, reasoningTokens: 20 });
  });

  it('B145: is unknown where it is missing, zero or impossible', () => {
    for (const usage of [
      {},
      { inputTokens: undefined, outputTokens: 3 },
      { inputTokens: 0, outputTokens: 3 },
      { inputTokens: Number.NaN },
      { inputTokens: -1 },
      { inputTokens: 10, outputTokens: 'many' },
      { inputTokens: 10, custom: { cache_read_input_tokens: -5 } },
    ])
      expect(usageOf(usage)).toBeUndefined();
    expect(usageOf({ inputTokens: 10 })).toEqual({ inputTokens: 10, outputTokens: 0 });
    for (const odd of [undefined, null, 'text', {}]) expect(adapter.usage(odd as GenkitReply)).toBeUndefined();
  });
});

describe('errors', () => {
  const kindOf = (status: string, message: string) =>
    adapter.classifyError(new GenkitError({ status: status as 'INTERNAL', message })).kind;

  it('are told apart by status and wording', () => {
    expect(kindOf('INVALID_ARGUMENT', "400 This model's maximum context length is 128000 tokens.")).toBe('overflow');
    expect(kindOf('INVALID_ARGUMENT', 'prompt is too long: 210000 tokens > 200000 maximum')).toBe('overflow');
    expect(kindOf('INVALID_ARGUMENT', '400 Invalid value.')).toBe('fatal');
    expect(kindOf('RESOURCE_EXHAUSTED', '429 Rate limit reached.')).toBe('retryable');
    expect(kindOf('UNAVAILABLE', '503 overloaded')).toBe('retryable');
    expect(kindOf('DEADLINE_EXCEEDED', 'too slow')).toBe('retryable');
    expect(kindOf('INTERNAL', 'oops')).toBe('retryable');
    expect(kindOf('UNAUTHENTICATED', '401 no')).toBe('fatal');
    expect(kindOf('PERMISSION_DENIED', '403 no')).toBe('fatal');
    expect(kindOf('NOT_FOUND', 'Tool x not found')).toBe('fatal');
    expect(kindOf('FAILED_PRECONDITION', 'Generation blocked: safety')).toBe('fatal');
  });

  it('of the status UNKNOWN are told apart by what they were', () => {
    expect(kindOf('UNKNOWN', 'Connection error.')).toBe('retryable');
    expect(kindOf('UNKNOWN', 'Request timed out.')).toBe('retryable');
    expect(kindOf('UNKNOWN', 'Request was aborted.')).toBe('fatal');
    expect(kindOf('UNKNOWN', '413 prompt is too long: 210000 tokens > 200000 maximum')).toBe('overflow');
    expect(kindOf('UNKNOWN', '404 The model does not exist.')).toBe('fatal');
    expect(kindOf('UNKNOWN', '529 Overloaded')).toBe('retryable');
    expect(kindOf('UNKNOWN', 'whatever')).toBe('retryable');
  });

  it('say how long to wait', () => {
    const error = new GenkitError({
      status: 'RESOURCE_EXHAUSTED',
      message: '429 slow down',
      responseMetadata: { retryAfterMs: 1500 },
    });
    expect(adapter.classifyError(error)).toEqual({ kind: 'retryable', retryAfter: 1500 });
    const odd = Object.assign(new Error('429 slow down'), { status: 429, responseMetadata: { retryAfterMs: 'soon' } });
    expect(adapter.classifyError(odd)).toEqual({ kind: 'retryable' });
  });

  it('of a provider pass through some plugins as they are', () => {
    const raw = Object.assign(new Error('400 {"type":"error"}'), {
      status: 400,
      error: { error: { message: 'prompt is too long: 210000 tokens > 200000 maximum' } },
    });
    expect(adapter.classifyError(raw)).toEqual({ kind: 'overflow', requested: 210_000, limit: 200_000 });
  });

  it('may be anything', () => {
    const trap = Object.defineProperty({}, 'status', {
      get() {
        throw new Error('no');
      },
    });
    for (const odd of [undefined, null, 'text', trap, { status: 'UNKNOWN' }])
      expect(['fatal', 'retryable']).toContain(adapter.classifyError(odd).kind);
  });
});
