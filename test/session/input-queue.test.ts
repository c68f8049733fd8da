import { expect, it } from 'vitest';
import { createInputQueue } from '../../src/session.ts';
import { deferred } from '../support/deferred.ts';

it.each(['is applied', 'fails'])(
  'K29: input that comes during a compaction is taken after it, in order, also where it %s',
  async (how) => {
    const taken: string[] = [];
    const queue = createInputQueue<string>((input) => void taken.push(input));
    const compaction = deferred();
    const compacting = queue.during(() => compaction.promise);
    const submitted = [queue.submit('first'), queue.submit('second')];
    expect(queue.waiting).toEqual(['first', 'second']);
    expect(taken).toEqual([]);
    if (how === 'fails') compaction.reject(new Error('cancelled'));
    else compaction.resolve();
    await Promise.allSettled([compacting]);
    await Promise.all(submitted);
    expect(taken).toEqual(['first', 'second']);
    expect(queue.waiting).toEqual([]);
  },
);

it('what cannot be taken says so, and does not hold up what comes after', async () => {
  const taken: string[] = [];
  const queue = createInputQueue<string>((input) => {
    if (input === 'bad') throw new Error('no');
    taken.push(input);
  });
  const [bad, good] = [queue.submit('bad'), queue.submit('good')];
  await expect(bad).rejects.toThrow('no');
  await good;
  expect(taken).toEqual(['good']);
});

it('gives back what the work gave, and a second work waits for the first', async () => {
  const order: number[] = [];
  const queue = createInputQueue(() => undefined);
  const slow = deferred<string>();
  const first = queue.during(async () => {
    order.push(1);
    return slow.promise;
  });
  const second = queue.during(async () => void order.push(2));
  slow.resolve('done');
  expect(await first).toBe('done');
  await second;
  expect(order).toEqual([1, 2]);
});
