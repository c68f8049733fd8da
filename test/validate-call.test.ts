import { describe, expect, it } from 'vitest';
import { compact } from '../src/compact.ts';
import { isCompactionError } from '../src/errors.ts';
import { createLoop, createWrapper } from './support/harness.ts';
import { longConversation } from './support/scripted-model.ts';

describe('how a compaction by hand is asked for', () => {
  it.each<[string, object]>([
    ['no option `instruction`', { instruction: 'Keep the paths.' }],
    ['`instructions` to be a text, got 5', { instructions: 5 }],
    ['`maxTokens` to be a whole number of tokens over 0, got -1', { maxTokens: -1 }],
    ['`effort` to be a text that is not blank, got ""', { effort: '' }],
    ['`verbosity` to be one of low, medium, high, got "huge"', { verbosity: 'huge' }],
    ['`format` to be plain or tagged, got "bare"', { format: 'bare' }],
    ['`onText` to be a function, got 5', { onText: 5 }],
    ['`signal` to be an AbortSignal, got 5', { signal: 5 }],
  ])('says %s', async (expected, options) => {
    const { loop, model } = createLoop();
    const before = loop.request;
    const wrapper = createWrapper();
    for (const asked of [() => loop.compact(options), () => wrapper.create.compactor.compact(longConversation(), options)]) {
      const error = await asked().catch((reason: unknown) => reason);
      expect(isCompactionError(error) && error.code).toBe('invalid-options');
      expect(String(error)).toContain(expected);
    }
    expect(model.summaries).toEqual([]);
    expect(loop.request).toEqual(before);
  });

  it('is taken whole by `compact`', async () => {
    const { model } = createWrapper();
    const { openaiChat } = await import('../src/adapters/openai-chat.ts');
    await compact(longConversation(), {
      adapter: openaiChat(),
      send: model.send,
      maxTokens: 77,
      effort: 'low',
      verbosity: 'low',
    });
    expect(model.summaries[0]?.request).toMatchObject({ max_completion_tokens: 77, reasoning_effort: 'low', verbosity: 'low' });
  });
});

describe('how a request is checked', () => {
  it.each<[string, object]>([
    ['no option `oneshot`', { oneshot: true }],
    ['`oneShot` to be true or false, got "yes"', { oneShot: 'yes' }],
    ['`signal` to be an AbortSignal, got 5', { signal: 5 }],
    ['`conversation` to be a text, got 5', { conversation: 5 }],
  ])('says %s', async (expected, options) => {
    const { create, model } = createWrapper();
    for (const asked of [create.compactor.prepare, create.compactor.plan, create]) {
      const error = await asked(longConversation(), options).catch((reason: unknown) => reason);
      expect(isCompactionError(error) && error.code).toBe('invalid-options');
      expect(String(error)).toContain(expected);
    }
    expect(model.turns).toEqual([]);
  });

  it.each<[string, object]>([
    ['no option `oneshot`', { oneshot: true }],
    ['`params` to be an object with fields of the request, got 5', { params: 5 }],
    ['`signal` to be an AbortSignal, got 5', { signal: 5 }],
  ])('says %s in a loop', async (expected, options) => {
    const { loop, model } = createLoop();
    for (const asked of [() => loop.prepare(options), () => loop.send(options), () => loop.fit(options)])
      expect(String(await asked().catch((reason: unknown) => reason))).toContain(expected);
    expect(model.turns).toEqual([]);
  });

  it('says it before it fits or recovers a request, too', async () => {
    const { compactor } = createWrapper({ recoverOverflow: true }).create;
    const wrong = { oneshot: true } as object;
    for (const asked of [
      () => compactor.fit(longConversation(), wrong),
      () => compactor.recover(longConversation(), 'no', wrong),
    ])
      expect(String(await asked().catch((reason: unknown) => reason))).toContain('no option `oneshot`');
  });

  it('what is observed wrongly changes nothing', () => {
    const { create } = createWrapper();
    // Hosts in plain JavaScript.
    for (const reply of [undefined, null, 5, {}, { usage: null }])
      expect(() => create.compactor.observe(longConversation(), reply as never)).not.toThrow();
  });
});
