import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, expect, it } from 'vitest';
import type { StoredEvent } from '../../../src/session/store.ts';
import { createStore } from '../../../src/session/stores/jsonl/create-store.ts';
import { nameFile } from '../../../src/session/stores/jsonl/file-name.ts';
import type { FileLayer } from '../../../src/session/stores/jsonl/files.ts';
import { lockFile } from '../../../src/session/stores/jsonl/lock.ts';
import { nodeFiles } from '../../../src/session/stores/jsonl/node-files.ts';
import { writeRecord } from '../../../src/session/stores/jsonl/record.ts';
import { jsonlStore } from '../../../src/session/stores/jsonl-store.ts';
import { freeLock } from '../../support/memory-lock.ts';
import { stepFiles } from '../../support/step-files.ts';

const folders: string[] = [];
let directory = '';
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'jsonl-'));
  folders.push(folder);
  directory = join(folder, 'deep', 'sessions');
});
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

const note = (seq: number): StoredEvent => ({ seq, kind: 'note', payload: { text: `note ${seq}` } });
const notes = (first: number, count: number): StoredEvent[] => Array.from({ length: count }, (_, index) => note(first + index));

it('K55: a line is JSON with seq, kind and payload, and a checksum', async () => {
  const store = jsonlStore({ directory });
  await store.append('chat', { seq: 1, kind: 'note', payload: { text: 'one\u2028line', bytes: Uint8Array.of(1, 2) } });
  await store.appendBatch('chat', notes(2, 2));
  await store.close();
  const lines = (await readFile(join(directory, 'chat.jsonl'), 'utf8')).split('\n');
  expect(lines.pop()).toBe('');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { crc32: '5e275e84', seq: 1, kind: 'note', payload: { text: 'one\u2028line', bytes: { $bytes: 'AQI=' } } },
    { crc32: expect.stringMatching(/^[0-9a-f]{8}$/), ...note(2) },
    { crc32: expect.stringMatching(/^[0-9a-f]{8}$/), ...note(3) },
  ]);
});

it('K56: files and folders are for their owner alone, also after a batch', async () => {
  const store = jsonlStore({ directory });
  const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
  await store.append('chat', note(1));
  expect(await modeOf(join(directory, 'chat.jsonl'))).toBe(0o600);
  await store.appendBatch('chat', [note(2)]);
  expect(await modeOf(join(directory, 'chat.jsonl'))).toBe(0o600);
  expect([await modeOf(directory), await modeOf(join(directory, '..'))]).toEqual([0o700, 0o700]);
  await store.close();
});

it('K57: nothing is left beside the file, and what a killed process left is removed', async () => {
  const store = jsonlStore({ directory });
  await store.appendBatch('chat', notes(1, 2));
  await store.close();
  expect(await readdir(directory)).toEqual(['chat.jsonl']);
  await writeFile(join(directory, 'chat.jsonl.tmp'), 'half a batch');
  await store.append('chat', note(3));
  await store.close();
  expect(await readdir(directory)).toEqual(['chat.jsonl']);
  expect((await store.load('chat')).events).toEqual(notes(1, 3));
});

it('reading makes and changes nothing', async () => {
  expect(await jsonlStore({ directory }).load('chat')).toEqual({ events: [], damage: [] });
  expect(existsSync(directory)).toBe(false);
});

it('appends that nobody waits for are stored in their order', async () => {
  const store = jsonlStore({ directory });
  const pending = notes(1, 50).map((event) => store.append('chat', event));
  pending.push(store.appendBatch('chat', notes(51, 3)), store.append('chat', note(54)));
  expect((await store.load('chat')).events).toEqual(notes(1, 54));
  await Promise.all(pending);
  await store.close();
});

it('close waits for what nobody waited for', async () => {
  const store = jsonlStore({ directory });
  const pending = [store.append('chat', note(1)), store.append('chat', note(2))];
  await store.close();
  expect(await readdir(directory)).toEqual(['chat.jsonl']);
  await Promise.all(pending);
  expect((await store.load('chat')).events).toEqual(notes(1, 2));
});

it('however many sessions are written to, few are open and locked, and none after close', async () => {
  const store = jsonlStore({ directory });
  for (const seq of [1, 2]) await Promise.all(Array.from({ length: 300 }, (_, index) => store.append(`s${index}`, note(seq))));
  const locksOf = async (): Promise<number> => (await readdir(directory)).filter((name) => name.endsWith('.lock')).length;
  expect(await locksOf()).toBeLessThanOrEqual(256);
  await store.close();
  expect(await locksOf()).toBe(0);
  for (let index = 0; index < 300; index++) expect((await store.load(`s${index}`)).events).toEqual(notes(1, 2));
});

it.each([
  ['always', [1, 2, 3, 4, 4]],
  // What is closed is made to last, the old file of a batch too: the batch may fail after that.
  ['batch', [0, 0, 2, 2, 3]],
] as const)('sync %s says when what is written is made to last', async (sync, counts) => {
  let syncs = 0;
  const files = stepFiles(nodeFiles, (step) => {
    if (step === 'after sync') syncs++;
  });
  const store = createStore({ directory, sync, files, lockFile: freeLock });
  const seen: number[] = [];
  const writes = [
    () => store.append('chat', note(1)),
    () => store.append('chat', note(2)),
    () => store.appendBatch('chat', notes(3, 2)),
    () => store.append('chat', note(5)),
    () => store.close(),
  ];
  for (const write of writes) {
    await write();
    seen.push(syncs);
  }
  expect(seen).toEqual(counts);
});

it('a file that somebody else wrote to is not written to', async () => {
  const store = createStore({ directory, sync: 'always', files: nodeFiles, lockFile: freeLock });
  const other = createStore({ directory, sync: 'always', files: nodeFiles, lockFile: freeLock });
  await store.append('chat', note(1));
  await other.append('chat', note(2));
  for (const write of [() => store.append('chat', note(2)), () => store.appendBatch('chat', notes(2, 2))])
    await expect(write()).rejects.toMatchObject({ code: 'store-conflict' });
  await other.appendBatch('chat', notes(3, 2));
  await expect(store.append('chat', note(3))).rejects.toMatchObject({ code: 'store-conflict' });
  await store.append('chat', note(5));
  expect((await other.load('chat')).events).toEqual(notes(1, 5));
  await Promise.all([store.close(), other.close()]);
});

it('an append that another writer came in between of is in doubt, and is not there', async () => {
  const other = createStore({ directory, sync: 'always', files: nodeFiles, lockFile: freeLock });
  let isBetween = false;
  const files: FileLayer = {
    ...nodeFiles,
    stat: async (path) => {
      const facts = await nodeFiles.stat(path);
      if (isBetween) await other.append('chat', { ...note(2), payload: 'the other' });
      isBetween = false;
      return facts;
    },
  };
  const store = createStore({ directory, sync: 'always', files, lockFile: freeLock });
  await store.append('chat', note(1));
  isBetween = true;
  await expect(store.append('chat', note(2))).rejects.toMatchObject({ code: 'store-in-doubt' });
  expect((await store.load('chat')).events).toEqual([note(1), { ...note(2), payload: 'the other' }]);
  await Promise.all([store.close(), other.close()]);
});

it('a batch whose file another writer took away is not stored, and what that one writes stays', async () => {
  const other = createStore({ directory, sync: 'always', files: nodeFiles, lockFile: freeLock });
  const path = join(directory, 'chat.jsonl.tmp');
  const files = stepFiles(nodeFiles, (step) => {
    // As one does that begins a batch of its own.
    if (step !== 'before sync' || !existsSync(path)) return;
    rmSync(path);
    writeFileSync(path, 'half a batch');
  });
  const store = createStore({ directory, sync: 'always', files, lockFile: freeLock });
  await store.append('chat', note(1));
  await expect(store.appendBatch('chat', notes(2, 2))).rejects.toMatchObject({ code: 'store-locked' });
  expect(await other.load('chat')).toEqual({ events: [note(1)], damage: [] });
  expect(await readFile(path, 'utf8')).toBe('half a batch');
  await store.close();
});

it('a batch writes into no file that another writer has made for its own', async () => {
  const path = join(directory, 'chat.jsonl.tmp');
  const store = createStore({ directory, sync: 'always', files: nodeFiles, lockFile: freeLock });
  await store.append('chat', note(1));
  await writeFile(path, 'half a batch');
  await expect(store.appendBatch('chat', notes(2, 2))).rejects.toMatchObject({ code: 'store-failed' });
  expect(await readFile(path, 'utf8')).toBe('half a batch');
  expect(await store.load('chat')).toEqual({ events: [note(1)], damage: [] });
  await store.close();
});

it('a batch that another writer came in between of is refused, and what that one wrote stays', async () => {
  const theirs = { ...note(2), payload: 'the other' };
  let isBetween = false;
  const files = stepFiles(nodeFiles, (step) => {
    if (isBetween && step === 'before sync') appendFileSync(join(directory, 'chat.jsonl'), writeRecord(theirs));
    if (step === 'before sync') isBetween = false;
  });
  const store = createStore({ directory, sync: 'always', files, lockFile: freeLock });
  await store.append('chat', note(1));
  isBetween = true;
  await expect(store.appendBatch('chat', notes(2, 2))).rejects.toMatchObject({ code: 'store-conflict' });
  expect(await store.load('chat')).toEqual({ events: [note(1), theirs], damage: [] });
  await store.close();
});

it('a batch that fails late makes what was appended before it last all the same', async () => {
  const steps: string[] = [];
  const files = stepFiles(nodeFiles, (step) => {
    steps.push(step);
    if (step === 'before rename') throw Object.assign(new Error('made up'), { code: 'EIO' });
  });
  const store = createStore({ directory, sync: 'batch', files, lockFile: freeLock });
  await store.append('chat', note(1));
  await expect(store.appendBatch('chat', notes(2, 2))).rejects.toMatchObject({ code: 'store-failed' });
  await store.close();
  // Once for the file of the batch and once for the old one.
  expect(steps.filter((step) => step === 'after sync')).toHaveLength(2);
  expect((await store.load('chat')).events).toEqual([note(1)]);
});

it.skipIf(process.platform === 'win32')('what is no file is a typed error', async () => {
  await mkdir(join(directory, 'folder.jsonl'), { recursive: true });
  // It takes everything and keeps nothing.
  await symlink('/dev/null', join(directory, 'device.jsonl'));
  const store = jsonlStore({ directory });
  for (const id of ['folder', 'device']) {
    await expect(store.load(id)).rejects.toMatchObject({ code: 'store-failed' });
    await expect(store.append(id, note(1))).rejects.toMatchObject({ code: 'store-failed' });
  }
  await store.close();
});

it('a lock that was lost is noticed before anything is written', async () => {
  let isHeld = true;
  const store = createStore({
    directory,
    sync: 'always',
    files: nodeFiles,
    lockFile: async () => ({ isHeld: () => isHeld, release: async () => {} }),
  });
  await store.append('chat', note(1));
  isHeld = false;
  await expect(store.append('chat', note(2))).rejects.toMatchObject({ code: 'store-locked' });
  expect((await store.load('chat')).events).toEqual([note(1)]);
});

it('a folder that cannot be written to is a typed error', async () => {
  const blocked = join(folders.at(-1)!, 'file');
  await writeFile(blocked, '');
  const store = jsonlStore({ directory: join(blocked, 'sessions') });
  await expect(store.append('chat', note(1))).rejects.toMatchObject({ code: 'store-failed' });
  await expect(store.load('chat')).rejects.toMatchObject({ code: 'store-failed' });
  const lock = await lockFile(join(folders.at(-1)!, 'x'));
  await lock.release();
});

it('each name has a file of its own, in the folder, whatever the name', () => {
  const names = [
    'a',
    'A',
    '..',
    '../a',
    '/etc/passwd',
    'a/b',
    'a\\b',
    'con',
    'x'.repeat(500),
    `${'x'.repeat(499)}y`,
    '~',
    '~7e',
    'a.jsonl',
  ];
  const files = names.map(nameFile);
  expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(names.length);
  // Windows takes them for devices, whatever their ending.
  for (const device of ['con', 'nul', 'com1', 'lpt9']) expect(nameFile(device)).toMatch(/^~/);
  expect(nameFile('chat_2026-01')).toBe('chat_2026-01.jsonl');
  const id = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }),
    fc.string({ unit: fc.constantFrom('a', 'A', '~', '4', '1'), maxLength: 12 }),
  );
  fc.assert(
    fc.property(id, id, (left, right) => {
      expect(nameFile(left)).toMatch(/^[a-z0-9_~-]{0,190}\.jsonl$/);
      expect(nameFile(left) === nameFile(right)).toBe(left === right);
    }),
    { numRuns: 2000 },
  );
});

it('wrong options are named, and their values are not shown', () => {
  const wrong: [unknown, RegExp][] = [
    [undefined, /options/],
    [{}, /`directory`/],
    [{ directory: 7 }, /`directory`/],
    [{ directory: '' }, /`directory`/],
    [{ directory, sync: 'sometimes' }, /`sync`/],
    [{ directory, fsync: true }, /`fsync`/],
  ];
  // From JavaScript anything may come.
  for (const [options, message] of wrong) expect(() => jsonlStore(options as Parameters<typeof jsonlStore>[0])).toThrow(message);
});
