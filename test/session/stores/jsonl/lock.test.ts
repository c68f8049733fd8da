import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { lockFile } from '../../../../src/session/stores/jsonl/lock.ts';
import { jsonlStore } from '../../../../src/session/stores/jsonl-store.ts';
import { bundleScript } from '../../../support/bundle-script.ts';
import { startWriter, type WriterProcess } from '../../../support/writer-process.ts';

let folder = '';
let script = '';
const writers: WriterProcess[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lock-'));
  script = await bundleScript('writer-child', folder);
});
afterAll(async () => {
  for (const writer of writers) writer.end();
  await rm(folder, { recursive: true, force: true });
});

const start = (directory: string, name: string): WriterProcess => {
  const writer = startWriter(script, directory, name);
  writers.push(writer);
  return writer;
};
const load = async (directory: string) => jsonlStore({ directory }).load('session');

// What is waited for is real time: all of it at once.
describe.concurrent('one writer at a time', () => {
  it('B120: the second of two processes is refused while the first one lives, and loses nothing', async ({ expect }) => {
    const directory = join(folder, 'two');
    const [first, second] = [start(directory, 'first'), start(directory, 'second')];
    expect(await first.write(100)).toBe('stored 100');
    second.tell('load');
    expect(await second.write(100)).toBe('stored 0 store-locked');
    expect(await first.write(1)).toBe('stored 1');
    first.tell('close');
    // It knows only of the first hundred.
    expect(await second.write(100)).toBe('stored 0 store-conflict');
    second.tell('load');
    expect(await second.write(100)).toBe('stored 100');
    const { events, damage } = await load(directory);
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 201 }, (_, index) => index + 1));
    expect(damage).toEqual([]);
  });

  it('of two processes that begin at once one writes', async ({ expect }) => {
    const directory = join(folder, 'race');
    const both = [start(directory, 'first'), start(directory, 'second')];
    const answers = await Promise.all(both.map((writer) => writer.write(100)));
    expect(answers.sort()).toEqual(['stored 0 store-locked', 'stored 100']);
    const { events } = await load(directory);
    expect(events).toHaveLength(100);
    expect(new Set(events.map(({ payload }) => (payload as { writer: string }).writer)).size).toBe(1);
  });

  // Ten seconds are promised; the rest is for a busy machine.
  it('the lock of a killed owner is taken over within ten seconds', { timeout: 25_000 }, async ({ expect }) => {
    const directory = join(folder, 'killed');
    const owner = start(directory, 'owner');
    expect(await owner.write(3)).toBe('stored 3');
    owner.end();
    const store = jsonlStore({ directory });
    await store.append('session', { seq: 4, kind: 'note', payload: 'mine' });
    await store.close();
    expect((await load(directory)).events).toHaveLength(4);
  });

  it('an owner that lives keeps its lock, however long it writes nothing', async ({ expect }) => {
    const directory = join(folder, 'idle');
    const owner = start(directory, 'owner');
    expect(await owner.write(1)).toBe('stored 1');
    await delay(8000);
    const store = jsonlStore({ directory });
    const refused = store.append('session', { seq: 2, kind: 'note', payload: 'mine' });
    await expect(refused).rejects.toMatchObject({ code: 'store-locked' });
    expect(await owner.write(1)).toBe('stored 1');
    owner.tell('close');
  });

  it('an owner that was stopped until its lock was taken is refused when it goes on', async ({ expect }) => {
    const directory = join(folder, 'stopped');
    const owner = start(directory, 'owner');
    expect(await owner.write(2)).toBe('stored 2');
    owner.process.kill('SIGSTOP');
    const store = jsonlStore({ directory });
    await store.append('session', { seq: 3, kind: 'note', payload: 'taken over' });
    owner.process.kill('SIGCONT');
    expect(await owner.write(1)).toMatch(/^stored 0 store-(conflict|locked)$/);
    await store.append('session', { seq: 4, kind: 'note', payload: 'still mine' });
    await store.close();
    const { events, damage } = await load(directory);
    expect(events.slice(2).map(({ payload }) => payload)).toEqual(['taken over', 'still mine']);
    expect(damage).toEqual([]);
  });

  it('of many that find the lock of a killed owner one takes it over', async ({ expect }) => {
    const paths = Array.from({ length: 150 }, (_, index) => join(folder, 'many', `${index}`));
    for (const path of paths) {
      await mkdir(`${path}.lock`, { recursive: true });
      await utimes(`${path}.lock`, 1, 1);
    }
    const counts = paths.map(async (path) => {
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockFile(path)));
      return results.filter(({ status }) => status === 'fulfilled').length;
    });
    expect(await Promise.all(counts)).toEqual(paths.map(() => 1));
  });

  it('two owners of one process have nothing to do with each other, also when one was late', async ({ expect }) => {
    const path = join(folder, 'late');
    const [late, next] = [await lockFile(path), await utimes(`${path}.lock`, 1, 1).then(() => lockFile(path))];
    // As if it had been taken as long after as a lock lasts.
    const later = Date.now() / 1000 + 6;
    await utimes(`${path}.lock`, later, later);
    await late.release();
    expect([late.isHeld(), next.isHeld(), existsSync(`${path}.lock`)]).toEqual([false, true, true]);
    await next.release();
  });

  it('an owner that was stopped gives back no lock that another one has taken', async ({ expect }) => {
    const directory = join(folder, 'given back');
    const owner = start(directory, 'owner');
    expect(await owner.write(1)).toBe('stored 1');
    owner.process.kill('SIGSTOP');
    const path = join(directory, 'session.jsonl');
    const lock = await lockFile(path);
    owner.tell('close');
    owner.process.kill('SIGCONT');
    // It answers when it has closed.
    owner.tell('load');
    expect(await owner.write(0)).toBe('stored 0');
    expect(existsSync(`${path}.lock`)).toBe(true);
    await lock.release();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it('a lock that nobody renews is taken over, whatever its date', async ({ expect }) => {
    const directory = join(folder, 'clock');
    const lock = join(directory, 'session.jsonl.lock');
    await mkdir(lock, { recursive: true });
    const tomorrow = Date.now() / 1000 + 86_400;
    await utimes(lock, tomorrow, tomorrow);
    const store = jsonlStore({ directory });
    await store.append('session', { seq: 1, kind: 'note', payload: 'mine' });
    await store.close();
    expect((await load(directory)).events).toHaveLength(1);
  });

  it('two stores of one process exclude each other too, and after close there is no wait', async ({ expect }) => {
    const directory = join(folder, 'same');
    const [first, second] = [jsonlStore({ directory }), jsonlStore({ directory })];
    await first.append('session', { seq: 1, kind: 'note', payload: 1 });
    const refused = second.append('session', { seq: 2, kind: 'note', payload: 2 });
    await expect(refused).rejects.toMatchObject({ code: 'store-locked' });
    await first.close();
    await second.append('session', { seq: 2, kind: 'note', payload: 2 });
    await second.close();
  });
});
