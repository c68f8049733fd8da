import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../src/adapters/anthropic.ts';
import { openaiChat } from '../src/adapters/openai-chat.ts';
import { compact } from '../src/compact.ts';
import { createCompactor } from '../src/compactor.ts';
import { CompactionError } from '../src/errors.ts';
import { AutoCompactingLoop } from '../src/loop.ts';
import { validateOptions } from '../src/validate-options.ts';
import { withAutoCompaction } from '../src/wrap.ts';
import { longConversation, scriptedModel } from './support/scripted-model.ts';

const adapter = openaiChat();
const { items: _items, ...withoutItems } = adapter;

describe('options that are right', () => {
  it.each<[string, object]>([
    ['nothing but an adapter', {}],
    [
      'all there are',
      {
        contextWindow: 128_000,
        send: async () => ({}),
        budget: { safetyMargin: 0, thresholdRatio: 1, threshold: 100, ceiling: 1000, outputCap: 10, countTokens: () => 1 },
        when: 'every-request',
        summary: {
          maxTokens: 1,
          retries: 0,
          timeout: 1,
          summarizer: async () => ({ text: '' }),
          send: async () => ({}),
          replacePrompt: 'Sum up.',
        },
        retain: { isUserInput: () => true },
        commit: () => undefined,
        commitTimeout: 1,
        onEvent: () => undefined,
      },
    ],
    [
      'undefined for whatever is not set',
      { contextWindow: undefined, budget: undefined, when: undefined, summary: { retries: undefined }, onEvent: undefined },
    ],
    ['empty groups', { budget: {}, summary: {}, retain: {} }],
    ['a window of 0, which stands for the default', { contextWindow: 0 }],
  ])('are taken: %s', (_name, options) => {
    expect(() => validateOptions({ adapter, ...options })).not.toThrow();
    expect(() => validateOptions({ adapter: anthropicMessages(), ...options })).not.toThrow();
  });
});

describe('an option that is wrong', () => {
  it.each<[unknown, string]>([
    [undefined, 'Expected `options` to be an object of options, got undefined.'],
    [null, 'Expected `options` to be an object of options, got null.'],
    ['openai', 'Expected `options` to be an object of options, got "openai".'],
    [{}, 'Expected `adapter` to be an adapter, for instance `openaiChat()`, got undefined.'],
    [{ adapter: openaiChat }, 'Expected `adapter` to be an adapter, for instance `openaiChat()`, got a function.'],
    [{ adapter: withoutItems }, 'Expected `adapter` to be an adapter, for instance `openaiChat()`, got an object.'],
    [{ adapter, contextWindow: '128k' }, 'Expected `contextWindow` to be a number, or a function of the model, got "128k".'],
    [{ adapter, contextWindow: -1 }, 'Expected `contextWindow` to be a number of tokens, 0 or more, got -1.'],
    [{ adapter, contextWindow: Number.NaN }, 'Expected `contextWindow` to be a number of tokens, 0 or more, got NaN.'],
    [
      { adapter, contextWindow: Number.POSITIVE_INFINITY },
      'Expected `contextWindow` to be a number of tokens, 0 or more, got Infinity.',
    ],
    [{ adapter, contextWindow: null }, 'Expected `contextWindow` to be a number, or a function of the model, got null.'],
    [{ adapter, window: 1000 }, 'Expected known options only, but there is no option `window`.'],
    [{ adapter, budget: 1000 }, 'Expected `budget` to be an object of options, got 1000.'],
    [{ adapter, budget: { treshold: 1000 } }, 'Expected known options only, but there is no option `budget.treshold`.'],
    [{ adapter, budget: { threshold: -5 } }, 'Expected `threshold` to be a number of tokens, 0 or more, got -5.'],
    [{ adapter, budget: { thresholdRatio: 1.5 } }, 'Expected `thresholdRatio` to be over 0 and at most 1, got 1.5.'],
    [{ adapter, budget: { countTokens: 4 } }, 'Expected `budget.countTokens` to be a function, got 4.'],
    [{ adapter, when: 'always' }, 'Expected `when` to be one of turn, tool-turn, every-request, never, got "always".'],
    [{ adapter, when: false }, 'Expected `when` to be one of turn, tool-turn, every-request, never, got false.'],
    [{ adapter, send: 'https://api.example.com' }, 'Expected `send` to be a function, got "https://api.example.com".'],
    [{ adapter, summary: { maxTokens: 0 } }, 'Expected `summary.maxTokens` to be a whole number of tokens over 0, got 0.'],
    [{ adapter, summary: { maxTokens: 1.5 } }, 'Expected `summary.maxTokens` to be a whole number of tokens over 0, got 1.5.'],
    [{ adapter, summary: { retries: -1 } }, 'Expected `summary.retries` to be a whole number, 0 or more, got -1.'],
    [{ adapter, summary: { timeout: 0 } }, 'Expected `summary.timeout` to be a number of milliseconds over 0, got 0.'],
    [{ adapter, summary: { replacePrompt: ' ' } }, 'Expected `summary.replacePrompt` to be a text that is not blank, got " ".'],
    [{ adapter, summary: { summarizer: {} } }, 'Expected `summary.summarizer` to be a function, got an object.'],
    [{ adapter, retain: { isUserInput: [] } }, 'Expected `retain.isUserInput` to be a function, got an array.'],
    [{ adapter, commitTimeout: Number.NaN }, 'Expected `commitTimeout` to be a number of milliseconds over 0, got NaN.'],
    [{ adapter, onEvent: {} }, 'Expected `onEvent` to be a function, got an object.'],
  ])('names itself, its value and what was expected: %#', (options, message) => {
    expect(() => validateOptions(options)).toThrow(expect.objectContaining({ code: 'invalid-options', message }));
    expect(() => validateOptions(options)).toThrow(CompactionError);
  });

  it('may be one that is missing: without a way to send, every compaction would fail', () => {
    const summarizer = async () => ({ text: 'S' });
    const { send } = scriptedModel();
    expect(() => createCompactor({ adapter })).toThrow(
      expect.objectContaining({ code: 'invalid-options', message: expect.stringContaining('`send`') }),
    );
    for (const enough of [{ send }, { summary: { send } }, { summary: { summarizer } }, { when: 'never' }] as const)
      expect(() => createCompactor({ adapter, ...enough })).not.toThrow();
  });

  it('is never shown in full: it may hold a secret', () => {
    expect(() => validateOptions({ adapter, when: `sk-${'s'.repeat(100)}` })).toThrow(`got "sk-${'s'.repeat(37)}…".`);
    expect(() => validateOptions({ adapter, onEvent: { key: 'secret' } })).not.toThrow('secret');
  });

  it('is refused at every entrance, before anything is sent', async () => {
    const { send, summaries, turns } = scriptedModel();
    const wrong = { adapter, when: 'always' } as never; // the types refuse it already
    expect(() => createCompactor(wrong)).toThrow('`when`');
    expect(() => withAutoCompaction(send, wrong)).toThrow('`when`');
    expect(() => new AutoCompactingLoop(longConversation(), wrong)).toThrow('`when`');
    await expect((async () => compact(longConversation(), wrong))()).rejects.toThrow('`when`');
    expect([summaries, turns]).toEqual([[], []]);
  });
});
