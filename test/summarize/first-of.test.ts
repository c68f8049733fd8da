import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import { CompactionError } from '../../src/errors.ts';
import { extractiveSummarizer } from '../../src/summarize/extractive.ts';
import { firstOf } from '../../src/summarize/first-of.ts';
import { forkSummarizer } from '../../src/summarize/fork.ts';
import type { Summarizer, SummarySizes } from '../../src/summarize/summarizer.ts';
import { goodSummary, httpError, longConversation, says } from '../support/scripted-model.ts';
import { runTask } from '../support/summary-task.ts';

const run = (summarize: Summarizer, reply = () => says(goodSummary), signal = new AbortController().signal) =>
  runTask(summarize, { adapter: openaiChat(), request: longConversation(), contextWindow: 20_000, retries: 0, reply, signal });
const failing =
  (error: unknown): Summarizer =>
  async () => {
    throw error;
  };
const writing =
  (text: string): Summarizer =>
  async ({ onText }) => {
    onText?.(text);
    return { text };
  };

describe('firstOf', () => {
  it('gives the summary of the first that succeeds, and asks no other', async () => {
    const { result, sent, notices } = await run(firstOf(writing('First.'), forkSummarizer()));
    expect([result, sent, notices]).toEqual([{ text: 'First.' }, [], []]);
  });

  it('goes on to the next after a failure, which is told, and what was streamed is void', async () => {
    const cut: Summarizer = async ({ onText }) => {
      onText?.('half a');
      throw new CompactionError('incomplete-reply', 'It ended.');
    };
    const { result, texts, notices } = await run(firstOf(cut, forkSummarizer(), writing('Never.')));
    expect(result).toMatchObject({ text: goodSummary });
    expect(texts).toEqual(['half a', '|', goodSummary]);
    expect(notices).toEqual([
      { code: 'summarizer-failed-over', message: 'Summarizer 1 of 3 failed (incomplete-reply): the next one is asked.' },
    ]);
  });

  it('ends in a summary that needs no model where the last one asks none', async () => {
    const down = () => {
      throw httpError(503, 'down');
    };
    const { result, notices } = await run(firstOf(forkSummarizer(), extractiveSummarizer()), down);
    expect(result?.text).toContain('## Goal');
    expect(notices.map(({ message }) => message)).toEqual([
      'Summarizer 1 of 2 failed (summarizer-failed): the next one is asked.',
    ]);
  });

  it('never swallows an abort', async () => {
    const abort = new AbortController();
    const aborting: Summarizer = async () => {
      abort.abort('stop');
      throw new Error('something else');
    };
    const { thrown, notices, result } = await run(firstOf(aborting, writing('Never.')), undefined, abort.signal);
    expect([thrown, notices, result]).toEqual(['stop', [], undefined]);
  });

  it('where all fail, throws with the code of the last and all errors in its cause', async () => {
    const overflow = httpError(400, 'prompt is too long: 210000 tokens > 200000 maximum, sk-SECRET');
    const refused = new CompactionError('refused', 'Expected a summary, but the model refused.');
    const first = await run(firstOf(failing(overflow), failing(refused)));
    expect(first.thrown).toMatchObject({
      code: 'refused',
      message: 'Each of 2 summarizers failed. The last: Expected a summary, but the model refused.',
      cause: { errors: [overflow, refused] },
    });
    expect((first.thrown as Error).cause).toBeInstanceOf(AggregateError);
    const second = await run(firstOf(failing(refused), failing(overflow)));
    expect(second.thrown).toMatchObject({ code: 'summarizer-overflow' });
    expect(String(second.thrown) + JSON.stringify(second.notices)).not.toContain('SECRET');
    const third = await run(firstOf(failing(refused), failing(undefined)));
    expect(third.thrown).toMatchObject({ code: 'summarizer-failed' });
  });

  it('foresees what the first that can be asked would leave out', () => {
    const omitted = { items: 3, tokens: 500 };
    const overflows = Object.assign(writing('No.'), {
      foresee: () => {
        throw new CompactionError('summarizer-overflow', 'It does not fit.');
      },
    });
    const cuts = Object.assign(writing('Yes.'), { foresee: () => omitted });
    const sizes = {} as SummarySizes<unknown, unknown, unknown>; // none of these summarizers looks at it
    expect(firstOf(cuts, overflows).foresee?.(sizes)).toBe(omitted);
    expect(firstOf(overflows, cuts).foresee?.(sizes)).toBe(omitted);
    expect(firstOf(overflows, writing('Yes.')).foresee?.(sizes)).toBe(undefined);
    expect(() => firstOf(overflows, overflows).foresee?.(sizes)).toThrow('It does not fit.');
  });

  it('one alone fails as it is', async () => {
    const error = httpError(500, 'gone');
    expect((await run(firstOf(failing(error)))).thrown).toBe(error);
  });

  it('what is no summarizer is named at once', () => {
    const any = firstOf as (...summarizers: unknown[]) => unknown; // a caller without types
    expect(() => any()).toThrow(expect.objectContaining({ code: 'invalid-options' }));
    expect(() => any(forkSummarizer(), 'fork')).toThrow('Expected `summarizers[1]` to be a summarizer, got "fork".');
    expect(() => any(forkSummarizer(), undefined)).toThrow('Expected `summarizers[1]` to be a summarizer, got undefined.');
  });
});
