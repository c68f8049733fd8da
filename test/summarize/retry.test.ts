import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { classifyProviderError } from '../../src/adapters/error-class.ts';
import { CompactionError } from '../../src/errors.ts';
import { type RetryOptions, retryTransient } from '../../src/summarize/retry.ts';
import { microtasks, never, watch } from '../support/deferred.ts';
import { httpError } from '../support/scripted-model.ts';

const busy = httpError(503, 'Service unavailable');

function options(fields: Partial<RetryOptions> = {}): RetryOptions {
  return {
    retries: 1,
    signal: new AbortController().signal,
    classify: classifyProviderError,
    onRetry: () => undefined,
    ...fields,
  };
}

/** Attempts that fail with these, one after the other, and succeed then. */
function failing(...failures: unknown[]): { attempt: () => Promise<string>; attempts: () => number } {
  let count = 0;
  return {
    attempts: () => count,
    async attempt() {
      if (count++ < failures.length) throw failures[count - 1];
      return 'summary';
    },
  };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('retryTransient', () => {
  it.each([
    ['a busy provider', busy],
    ['throttling', httpError(429, 'Too many requests')],
    ['a lost connection', Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } })],
    ['an error inside a stream', { error: { type: 'overloaded_error', message: 'Overloaded' } }],
    ['a reply that was cut', new CompactionError('incomplete-reply', 'cut')],
  ])('tries again after %s', async (_name, failure) => {
    const { attempt, attempts } = failing(failure);
    const result = watch(retryTransient(attempt, options()));
    await vi.runAllTimersAsync();
    expect(result.settlement).toEqual({ state: 'fulfilled', value: 'summary' });
    expect(attempts()).toBe(2);
  });

  it.each([
    ['a refused key', httpError(401, 'Invalid key')],
    ['a request that is too long', httpError(400, 'prompt is too long: 210000 tokens > 200000 maximum')],
    ['an abort', new DOMException('This operation was aborted', 'AbortError')],
    ['a fault of the host', new TypeError('x is not a function')],
    ['a refusal', new CompactionError('refused', 'no')],
    ['a truncated summary', new CompactionError('truncated-summary', 'cut')],
    ['an empty summary', new CompactionError('empty-summary', 'blank')],
    ['a text', 'x'],
    ['null', null],
    ['undefined', undefined],
  ])('does not try again after %s, and throws the very same thing', async (_name, failure) => {
    const { attempt, attempts } = failing(failure);
    const result = watch(retryTransient(attempt, options({ retries: 3 })));
    await vi.runAllTimersAsync();
    expect(result.settlement).toEqual({ state: 'rejected', reason: failure });
    if (result.settlement.state === 'rejected') expect(result.settlement.reason).toBe(failure);
    expect(attempts()).toBe(1);
  });

  it('gives up after the last attempt, with what failed last', async () => {
    const { attempt, attempts } = failing(busy, httpError(500, 'two'), httpError(502, 'three'));
    const result = watch(retryTransient(attempt, options({ retries: 2 })));
    await vi.runAllTimersAsync();
    expect(attempts()).toBe(3);
    expect(result.settlement).toMatchObject({ state: 'rejected', reason: { message: 'three' } });
  });

  it('does not try again where no retries are asked for', async () => {
    const { attempt, attempts } = failing(busy);
    const result = watch(retryTransient(attempt, options({ retries: 0 })));
    await vi.runAllTimersAsync();
    expect(result.settlement).toEqual({ state: 'rejected', reason: busy });
    expect(attempts()).toBe(1);
  });

  it('tells of another attempt when it begins, not before', async () => {
    const order: string[] = [];
    const { attempt } = failing(busy, busy);
    const run = retryTransient(
      () => {
        order.push('attempt');
        return attempt();
      },
      options({ retries: 2, onRetry: () => void order.push('retry') }),
    );
    await microtasks(20);
    expect(order).toEqual(['attempt']);
    await vi.runAllTimersAsync();
    await run;
    expect(order).toEqual(['attempt', 'retry', 'attempt', 'retry', 'attempt']);
  });

  it('waits as long as the provider asks for', async () => {
    const { attempt, attempts } = failing(httpError(429, 'Too many requests', { 'retry-after': '20' }));
    const run = retryTransient(attempt, options());
    await vi.advanceTimersByTimeAsync(19_999);
    expect(attempts()).toBe(1);
    await vi.runAllTimersAsync();
    expect(await run).toBe('summary');
  });

  it('does not wait where nothing is tried again', async () => {
    const slow = httpError(429, 'Too many requests', { 'retry-after': '20' });
    const result = watch(retryTransient(() => Promise.reject(slow), options({ retries: 0 })));
    await microtasks(30);
    expect(result.settlement).toEqual({ state: 'rejected', reason: slow });
  });

  it.each([
    ['an error', new Error('stop')],
    ['a text', 'stop'],
    ['null', null],
  ])('never tries again after an abort, whose reason is %s', async (_name, reason) => {
    for (const failure of [busy, httpError(429, 'Too many requests', { 'retry-after': '20' })]) {
      const abort = new AbortController();
      const onRetry = vi.fn();
      const { attempt, attempts } = failing(failure);
      const result = watch(retryTransient(attempt, options({ signal: abort.signal, onRetry })));
      await vi.advanceTimersByTimeAsync(100);
      expect(result.settlement.state).toBe('pending');
      abort.abort(reason);
      await vi.advanceTimersByTimeAsync(0);
      expect(result.settlement).toEqual({ state: 'rejected', reason });
      await vi.runAllTimersAsync();
      expect(attempts()).toBe(1);
      expect(onRetry).not.toHaveBeenCalled();
      expect(vi.getTimerCount()).toBe(0);
    }
  });

  it('throws the reason of an abort that came during the attempt', async () => {
    const abort = new AbortController();
    const reason = { stop: true };
    const result = watch(
      retryTransient(
        async () => {
          abort.abort(reason);
          throw busy;
        },
        options({ signal: abort.signal, retries: 3 }),
      ),
    );
    await vi.runAllTimersAsync();
    if (result.settlement.state !== 'rejected') throw new Error('Expected a rejection.');
    expect(result.settlement.reason).toBe(reason);
  });

  it('attempts nothing under an aborted signal', async () => {
    const attempt = vi.fn(never);
    await expect(retryTransient(attempt, options({ signal: AbortSignal.abort('gone') }))).rejects.toBe('gone');
    expect(attempt).not.toHaveBeenCalled();
  });
});
