import { expect, it } from 'vitest';
import { createKeyedQueue } from '../../../../src/session/stores/jsonl/keyed-queue.ts';
import { deferred } from '../../../support/deferred.ts';

it('work for one key runs one after the other, however it ends, and for others at once', async () => {
  const queue = createKeyedQueue();
  const ran: string[] = [];
  const slow = deferred();
  const work = [
    queue.run('a', () => slow.promise),
    queue.run('a', async () => void ran.push('a')),
    queue.run('b', async () => void ran.push('b')),
  ];
  await work[2];
  expect(ran).toEqual(['b']);
  slow.reject(new Error('broken'));
  await Promise.allSettled(work);
  expect(ran).toEqual(['b', 'a']);
});

it('a key without work is forgotten', async () => {
  const queue = createKeyedQueue();
  const [first, second] = [queue.run('a', async () => 1), queue.run('a', async () => 2)];
  expect([...queue.keys()]).toEqual(['a']);
  expect(await Promise.all([first, second])).toEqual([1, 2]);
  expect([...queue.keys()]).toEqual([]);
});
