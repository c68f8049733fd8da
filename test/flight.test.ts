import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isCompactionError } from '../src/errors.ts';
import { type Flight, type FlightOutcome, type FlightSteps, startFlight } from '../src/flight.ts';
import { untilAborted } from '../src/until-aborted.ts';
import { type Deferred, deferred, microtasks, never, watch } from './support/deferred.ts';

interface Setup {
  flight: Flight<string>;
  summary: Deferred<string>;
  outcomes: FlightOutcome<string>[];
  installed: string[];
  committed: string[];
  late: boolean[];
  signal: AbortSignal;
}

async function setUp(steps: Partial<FlightSteps<string>> = {}): Promise<Setup> {
  const summary = deferred<string>();
  const outcomes: FlightOutcome<string>[] = [];
  const installed: string[] = [];
  const committed: string[] = [];
  const late: boolean[] = [];
  let signal: AbortSignal | undefined;
  const flight = startFlight<string>({
    summarize(given) {
      signal = given;
      return summary.promise;
    },
    check: () => undefined,
    commit: async (result) => {
      committed.push(result);
    },
    install: (result) => {
      installed.push(result);
    },
    onSettled: (outcome) => outcomes.push(outcome),
    onLateCommit: (stored) => late.push(stored),
    timeout: 1000,
    commitTimeout: undefined,
    ...steps,
  });
  await microtasks(5);
  if (!signal) throw new Error('Expected the summary to be asked for.');
  return { flight, summary, outcomes, installed, committed, late, signal };
}

function failure(outcome: FlightOutcome<string> | undefined): unknown {
  if (outcome?.status !== 'failed') return outcome;
  return isCompactionError(outcome.error) ? outcome.error.code : outcome.error;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a flight', () => {
  it('commits, then installs, then tells', async () => {
    const order: string[] = [];
    const { flight, summary } = await setUp({
      check: () => void order.push('check'),
      commit: async () => void order.push('commit'),
      install: () => void order.push('install'),
      onSettled: () => void order.push('settled'),
    });
    const joined = flight.join();
    summary.resolve('s');
    expect(await joined).toEqual({ status: 'applied', result: 's' });
    expect(order).toEqual(['check', 'commit', 'install', 'settled']);
  });

  it('leaves no timer behind', async () => {
    const { flight, summary } = await setUp({ commitTimeout: 500 });
    summary.resolve('s');
    await flight.join();
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ['an error', new Error('x')],
    ['a text', 'x'],
    ['null', null],
    ['undefined', undefined],
  ])('fails with %s that the summarizer threw', async (_name, thrown) => {
    const { flight, summary, outcomes, committed, installed } = await setUp();
    summary.reject(thrown);
    expect(await flight.join()).toEqual({ status: 'failed', error: thrown });
    expect(outcomes).toHaveLength(1);
    expect([...committed, ...installed]).toEqual([]);
  });

  it('fails where the summarizer throws before it waits', async () => {
    const thrown = startFlight<string>({
      summarize: () => {
        throw new Error('at once');
      },
      check: () => undefined,
      commit: undefined,
      install: () => undefined,
      onSettled: () => undefined,
      onLateCommit: () => undefined,
      timeout: 1000,
      commitTimeout: undefined,
    });
    expect(await thrown.join()).toMatchObject({ status: 'failed', error: { message: 'at once' } });
  });

  it('fails with what the check found, and commits nothing', async () => {
    const { flight, summary, committed } = await setUp({
      check: () => {
        throw new Error('changed');
      },
    });
    summary.resolve('s');
    expect(await flight.join()).toMatchObject({ status: 'failed', error: { message: 'changed' } });
    expect(committed).toEqual([]);
  });

  it('needs no commit', async () => {
    const { flight, summary, installed } = await setUp({ commit: undefined });
    summary.resolve('s');
    expect((await flight.join()).status).toBe('applied');
    expect(installed).toEqual(['s']);
  });
});

describe('cancelling', () => {
  it('ends the flight, though the summarizer ignores its signal', async () => {
    const { flight, summary, installed, outcomes, signal } = await setUp();
    const joined = flight.join();
    flight.cancel();
    expect(await joined).toEqual({ status: 'cancelled', by: 'child' });
    expect(signal.aborted).toBe(true);
    summary.resolve('late');
    await microtasks(20);
    expect(installed).toEqual([]);
    expect(outcomes).toHaveLength(1);
  });

  it('as it starts begins nothing', async () => {
    const summarize = vi.fn(async () => 's');
    const flight = startFlight<string>({
      summarize,
      check: () => undefined,
      commit: undefined,
      install: () => undefined,
      onSettled: () => undefined,
      onLateCommit: () => undefined,
      timeout: 1000,
      commitTimeout: undefined,
    });
    const joined = flight.join();
    flight.cancel();
    expect(await joined).toEqual({ status: 'cancelled', by: 'child' });
    expect(summarize).not.toHaveBeenCalled();
  });

  it('is decided by who stopped first', async () => {
    const abort = new AbortController();
    const { flight, outcomes } = await setUp();
    const joined = watch(flight.join(abort.signal));
    flight.cancel();
    abort.abort('parent');
    await microtasks(20);
    expect(outcomes).toEqual([{ status: 'cancelled', by: 'child' }]);
    expect(joined.settlement).toEqual({ state: 'rejected', reason: 'parent' });
  });

  it('changes nothing behind the end', async () => {
    const { flight, summary, outcomes } = await setUp();
    summary.resolve('s');
    await flight.join();
    flight.cancel();
    flight.discard();
    expect(outcomes).toEqual([{ status: 'applied', result: 's' }]);
  });

  it.each(Array.from({ length: 12 }, (_, index) => index))(
    '%i steps after the summary came either ends the flight before the commit or not at all',
    async (steps) => {
      for (const stop of ['cancel', 'parent', 'deadline'] as const) {
        const abort = new AbortController();
        const { flight, summary, committed, installed, outcomes } = await setUp();
        const joined = watch(flight.join(abort.signal));
        summary.resolve('s');
        await microtasks(steps);
        if (stop === 'cancel') flight.cancel();
        else if (stop === 'parent') abort.abort('parent');
        else vi.advanceTimersByTime(1000);
        await microtasks(30);
        expect(outcomes).toHaveLength(1);
        const applied = outcomes[0]?.status === 'applied';
        expect(committed).toEqual(applied ? ['s'] : []);
        expect(installed).toEqual(applied ? ['s'] : []);
        if (!applied) expect(joined.settlement.state).toBe(stop === 'parent' ? 'rejected' : 'fulfilled');
      }
    },
  );
});

describe('waiting', () => {
  it.each([
    ['an error', new Error('stop')],
    ['a text', 'stop'],
    ['null', null],
    ['an object', { stop: true }],
  ])('rejects with the reason of the waiter: %s', async (_name, reason) => {
    const abort = new AbortController();
    const { flight, outcomes } = await setUp();
    const joined = watch(flight.join(abort.signal));
    abort.abort(reason);
    await microtasks(20);
    expect(joined.settlement).toEqual({ state: 'rejected', reason });
    expect(outcomes).toEqual([{ status: 'cancelled', by: 'parent' }]);
  });

  it('goes on for the others when one leaves', async () => {
    const abort = new AbortController();
    const { flight, summary, outcomes } = await setUp();
    const first = watch(flight.join(abort.signal));
    const second = watch(flight.join(new AbortController().signal));
    abort.abort('gone');
    await microtasks(20);
    expect(first.settlement).toEqual({ state: 'rejected', reason: 'gone' });
    expect(second.settlement.state).toBe('pending');
    summary.resolve('s');
    await microtasks(20);
    expect(second.settlement).toEqual({ state: 'fulfilled', value: { status: 'applied', result: 's' } });
    expect(outcomes).toEqual([{ status: 'applied', result: 's' }]);
  });

  it('ends the flight when the last one leaves', async () => {
    const aborts = [new AbortController(), new AbortController(), new AbortController()];
    const { flight, outcomes } = await setUp();
    const joins = aborts.map(({ signal }) => watch(flight.join(signal)));
    for (const [index, abort] of aborts.entries()) {
      expect(outcomes).toEqual([]);
      abort.abort(index);
      await microtasks(20);
    }
    expect(outcomes).toEqual([{ status: 'cancelled', by: 'parent' }]);
    expect(joins.map(({ settlement }) => settlement)).toEqual([0, 1, 2].map((reason) => ({ state: 'rejected', reason })));
  });

  it('is refused to a waiter who is aborted already, without harm to the others', async () => {
    const { flight, summary } = await setUp();
    const patient = watch(flight.join());
    const gone = watch(flight.join(AbortSignal.abort('gone')));
    await microtasks(20);
    expect(gone.settlement).toEqual({ state: 'rejected', reason: 'gone' });
    summary.resolve('s');
    await microtasks(20);
    expect(patient.settlement.state).toBe('fulfilled');
  });

  it('leaves no listener on the signal of a waiter', async () => {
    const abort = new AbortController();
    const removed = vi.spyOn(abort.signal, 'removeEventListener');
    const added = vi.spyOn(abort.signal, 'addEventListener');
    const { flight, summary } = await setUp();
    const joined = flight.join(abort.signal);
    summary.resolve('s');
    await joined;
    expect(added).toHaveBeenCalledTimes(1);
    expect(removed).toHaveBeenCalledTimes(1);
  });

  it('ends with what `onSettled` threw, rather than never', async () => {
    const { flight, summary } = await setUp({
      onSettled: () => {
        throw new Error('broken');
      },
    });
    const joined = watch(flight.join());
    summary.resolve('s');
    await microtasks(20);
    expect(joined.settlement).toMatchObject({ state: 'rejected', reason: { message: 'broken' } });
  });
});

describe('the deadline', () => {
  it('fails the flight, and a late summary changes nothing', async () => {
    const { flight, summary, installed, committed } = await setUp();
    const joined = flight.join();
    await vi.advanceTimersByTimeAsync(999);
    expect(watch(joined).settlement.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(failure(await joined)).toBe('deadline');
    summary.resolve('late');
    await microtasks(20);
    expect([...installed, ...committed]).toEqual([]);
  });

  it.each([Number.POSITIVE_INFINITY, 2 ** 31, 1e12])('of %d ms does not pass at once', async (timeout) => {
    const { flight, summary } = await setUp({ timeout });
    const joined = watch(flight.join());
    await vi.advanceTimersByTimeAsync(60_000);
    expect(joined.settlement.state).toBe('pending');
    summary.resolve('s');
    await microtasks(20);
    expect(joined.settlement.state).toBe('fulfilled');
  });
});

describe('the commit', () => {
  it('is the point of no return: cancel, abort and deadline wait for it', async () => {
    const storing = deferred();
    const abort = new AbortController();
    const { flight, summary, outcomes, installed } = await setUp({ commit: () => storing.promise });
    const joined = watch(flight.join(abort.signal));
    summary.resolve('s');
    await microtasks(20);
    flight.cancel();
    abort.abort('parent');
    await vi.advanceTimersByTimeAsync(5000);
    expect(joined.settlement.state).toBe('pending');
    expect(outcomes).toEqual([]);
    storing.resolve();
    await microtasks(20);
    expect(outcomes).toEqual([{ status: 'applied', result: 's' }]);
    expect(installed).toEqual(['s']);
    expect(joined.settlement).toEqual({ state: 'rejected', reason: 'parent' });
  });

  it.each([
    ['an error', new Error('disk full')],
    ['a text', 'disk full'],
    ['undefined', undefined],
  ])('that rejects with %s fails the flight', async (_name, reason) => {
    for (const commit of [
      () => Promise.reject(reason),
      () => {
        throw reason;
      },
    ]) {
      const { flight, summary, installed } = await setUp({ commit });
      summary.resolve('s');
      const outcome = await flight.join();
      expect(failure(outcome)).toBe('commit-failed');
      expect(outcome).toMatchObject({ error: { cause: reason } });
      expect(installed).toEqual([]);
    }
  });

  it('may return nothing', async () => {
    const { flight, summary } = await setUp({ commit: () => undefined });
    summary.resolve('s');
    expect((await flight.join()).status).toBe('applied');
  });

  it('that does not answer in time is in doubt; its late answer is passed on', async () => {
    for (const stored of [true, false]) {
      const storing = deferred();
      const { flight, summary, late, installed } = await setUp({ commit: () => storing.promise, commitTimeout: 200 });
      summary.resolve('s');
      const joined = flight.join();
      await vi.advanceTimersByTimeAsync(200);
      expect(failure(await joined)).toBe('commit-in-doubt');
      expect([...late, ...installed]).toEqual([]);
      if (stored) storing.resolve();
      else storing.reject(new Error('late'));
      await microtasks(20);
      expect(late).toEqual([stored]);
    }
  });

  it('that answers as its time runs out is told of only after the doubt is', async () => {
    const storing = deferred();
    const order: string[] = [];
    const { flight, summary } = await setUp({
      commit: () => storing.promise,
      commitTimeout: 200,
      onSettled: (outcome) => void order.push(String(failure(outcome))),
      onLateCommit: (stored) => void order.push(`late ${stored}`),
    });
    summary.resolve('s');
    const joined = flight.join();
    await microtasks(20);
    vi.advanceTimersByTime(200);
    storing.resolve();
    await joined;
    await microtasks(20);
    expect(order).toEqual(['commit-in-doubt', 'late true']);
  });

  it('that itself rejects with `commit-in-doubt` has failed: the host has answered', async () => {
    const { flight, summary, late } = await setUp({
      commit: () => Promise.reject(Object.assign(new Error('x'), { name: 'CompactionError', code: 'commit-in-doubt' })),
      commitTimeout: 200,
    });
    summary.resolve('s');
    expect(failure(await flight.join())).toBe('commit-failed');
    expect(late).toEqual([]);
  });

  it.each([Number.POSITIVE_INFINITY, 2 ** 31])('with a time of %d ms is not in doubt at once', async (commitTimeout) => {
    const storing = deferred();
    const { flight, summary } = await setUp({ commit: () => storing.promise, commitTimeout });
    const joined = watch(flight.join());
    summary.resolve('s');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(joined.settlement.state).toBe('pending');
    storing.resolve();
    await microtasks(20);
    expect(joined.settlement).toMatchObject({ state: 'fulfilled', value: { status: 'applied' } });
  });
});

describe('a reset', () => {
  it('voids what comes out', async () => {
    const { flight, summary, installed } = await setUp();
    const joined = flight.join();
    flight.discard();
    expect(failure(await joined)).toBe('reset');
    summary.resolve('late');
    await microtasks(20);
    expect(installed).toEqual([]);
  });

  it('does not wait for a commit that never answers', async () => {
    const { flight, summary, late } = await setUp({ commit: () => never(), commitTimeout: 5000 });
    const joined = watch(flight.join());
    summary.resolve('s');
    await microtasks(20);
    flight.discard();
    await microtasks(20);
    expect(joined.settlement).toMatchObject({ state: 'fulfilled', value: { status: 'failed', error: { code: 'reset' } } });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(late).toEqual([]);
  });

  it('wins over a commit, whether it is stored or not', async () => {
    for (const stored of [true, false]) {
      const storing = deferred();
      const { flight, summary, installed } = await setUp({ commit: () => storing.promise });
      const joined = flight.join();
      summary.resolve('s');
      await microtasks(20);
      flight.discard();
      if (stored) storing.resolve();
      else storing.reject(new Error('disk full'));
      expect(failure(await joined)).toBe('reset');
      expect(installed).toEqual([]);
    }
  });
});

describe('untilAborted', () => {
  it('settles as the work does', async () => {
    const { signal } = new AbortController();
    expect(await untilAborted(async () => 1, signal)).toBe(1);
    await expect(untilAborted(() => Promise.reject('x'), signal)).rejects.toBe('x');
    await expect(
      untilAborted(() => {
        throw new Error('at once');
      }, signal),
    ).rejects.toThrow('at once');
  });

  it('begins nothing under an aborted signal', async () => {
    const work = vi.fn(async () => 1);
    await expect(untilAborted(work, AbortSignal.abort(null))).rejects.toBe(null);
    expect(work).not.toHaveBeenCalled();
  });

  it('leaves work behind that ignores the signal', async () => {
    const abort = new AbortController();
    const waiting = watch(untilAborted(() => never(), abort.signal));
    abort.abort(undefined);
    await microtasks(5);
    expect(waiting.settlement).toMatchObject({ state: 'rejected', reason: { name: 'AbortError' } });
  });
});
