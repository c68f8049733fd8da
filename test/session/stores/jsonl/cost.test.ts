import { expect, it } from 'vitest';
import { createStore } from '../../../../src/session/stores/jsonl/create-store.ts';
import type { FileLayer, OpenFile } from '../../../../src/session/stores/jsonl/files.ts';
import { makeWrite } from '../../../support/crash-events.ts';
import { forgetfulFiles } from '../../../support/forgetful-files.ts';
import { freeLock } from '../../../support/memory-lock.ts';

interface Work {
  steps: number;
  read: number;
  written: number;
}

/** A file layer that tells what was asked of it: steps, and bytes of content. */
function countFiles(files: FileLayer): { files: FileLayer; take: () => Work } {
  let work: Work = { steps: 0, read: 0, written: 0 };
  const counted = async <Result>(run: () => Promise<Result>, bytes: Partial<Work> = {}): Promise<Result> => {
    work.steps++;
    work.written += bytes.written ?? 0;
    return run();
  };
  const openFile = (file: OpenFile): OpenFile => ({
    facts: () => counted(() => file.facts()),
    read: async (into, position) => {
      const read = await counted(() => file.read(into, position));
      work.read += read;
      return read;
    },
    write: (bytes) => counted(() => file.write(bytes), { written: bytes.byteLength }),
    truncate: (size) => counted(() => file.truncate(size)),
    sync: () => counted(() => file.sync()),
    close: () => counted(() => file.close()),
  });
  return {
    files: {
      makeFolder: (path) => counted(() => files.makeFolder(path)),
      open: (path, mode) => counted(async () => files.open(path, mode).then((file) => file && openFile(file))),
      stat: (path) => counted(() => files.stat(path)),
      rename: (from, to) => counted(() => files.rename(from, to)),
      remove: (path) => counted(() => files.remove(path)),
      syncFolder: (path) => counted(() => files.syncFolder(path)),
    },
    take: () => {
      const taken = work;
      work = { steps: 0, read: 0, written: 0 };
      return taken;
    },
  };
}

/** What appending one event costs behind so many, and what loading them all costs. */
async function costsBehind(count: number): Promise<{ append: Work; load: Work; size: number }> {
  const { files, take } = countFiles(forgetfulFiles());
  const store = createStore({ directory: '/sessions', sync: 'always', files, lockFile: freeLock });
  await store.appendBatch('a', makeWrite(1, 1, 0, count));
  take();
  // The same event, but for the digits of its number.
  await store.append('a', { seq: count + 1, kind: 'note', payload: 'x'.repeat(1000) });
  const append = take();
  const { events } = await store.load('a');
  expect(events).toHaveLength(count + 1);
  const load = take();
  const file = await files.stat('/sessions/a.jsonl');
  await store.close();
  return { append, load, size: file?.size ?? 0 };
}

it('an append reads nothing and writes its own event alone, however long the session is', async () => {
  const [short, long] = [await costsBehind(20), await costsBehind(4000)];
  expect(long.size).toBeGreaterThan(100 * short.size);
  expect(long.append.steps).toBe(short.append.steps);
  for (const { append } of [short, long]) {
    expect(append.read).toBe(0);
    expect(append.written).toBeGreaterThan(1000);
    expect(append.written).toBeLessThan(1200);
  }
});

it('loading reads each byte once', async () => {
  for (const count of [20, 4000]) {
    const { load, size } = await costsBehind(count);
    expect(load).toMatchObject({ read: size, written: 0 });
  }
});
