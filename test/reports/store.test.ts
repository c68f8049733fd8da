import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StoredEvent } from '../../src/session/store.ts';
import { createStore } from '../../src/session/stores/jsonl/create-store.ts';
import { writeRecord } from '../../src/session/stores/jsonl/record.ts';
import { jsonlStore } from '../../src/session/stores/jsonl-store.ts';
import { failure, forgetfulFiles } from '../support/forgetful-files.ts';
import { freeLock } from '../support/memory-lock.ts';
import { stepFiles } from '../support/step-files.ts';

// Damage at any byte is tested in test/session/stores/jsonl/damage.test.ts, two writers (B120) in lock.test.ts beside it.

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'reports-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const note = (seq: number, text = `note ${seq}`): StoredEvent => ({ seq, kind: 'note', payload: { text } });

/** A session with events, and with something else at the end of its file. */
async function sessionWith(id: string, events: StoredEvent[], tail: Uint8Array | string): Promise<string> {
  const store = jsonlStore({ directory });
  await store.appendBatch(id, events);
  await store.close();
  const file = join(directory, `${id}.jsonl`);
  await appendFile(file, tail);
  return file;
}

it('B112: what is appended after a torn line does not stick to it', async () => {
  const file = await sessionWith('torn', [note(1), note(2)], '{"type":"mess');
  const store = jsonlStore({ directory });
  await store.append('torn', note(3));
  await store.append('torn', note(4));
  await store.close();
  const { events, damage } = await store.load('torn');
  expect(events).toEqual([note(1), note(2), note(3), note(4)]);
  expect(damage).toMatchObject([{ reason: 'unreadable', length: '{"type":"mess'.length }]);
  expect((await readFile(file, 'utf8')).split('\n')[2]).toBe('{"type":"mess');
});

it('B116: half an event that is followed by the whole one is there once', async () => {
  const record = writeRecord(note(5));
  const events = [1, 2, 3, 4].map((seq) => note(seq));
  const half = Buffer.from(record.subarray(0, record.byteLength >> 1));
  await sessionWith('half', events, Buffer.concat([half, Buffer.from('\n'), record, writeRecord(note(6))]));
  const { events: loaded, damage } = await jsonlStore({ directory }).load('half');
  expect(loaded).toEqual([...events, note(5), note(6)]);
  expect(damage).toMatchObject([{ reason: 'unreadable', length: half.byteLength }]);
});

it('B118: a bad line is reported when it is read, and kept when the file is written anew', async () => {
  const bad = '{"seq":3,"kind":"note","payload":{"text":"no checksum"}}';
  const file = await sessionWith('bad', [note(1), note(2)], `${bad}\n${Buffer.from(writeRecord(note(4)))}`);
  const before = await readFile(file);
  const store = jsonlStore({ directory });
  const loaded = await store.load('bad');
  expect(loaded.events).toEqual([note(1), note(2), note(4)]);
  expect(loaded.damage).toMatchObject([{ reason: 'unreadable', length: bad.length }]);
  expect(await readFile(file)).toEqual(before);
  await store.appendBatch('bad', [note(5), note(6)]);
  await store.close();
  expect((await readFile(file)).subarray(0, before.byteLength)).toEqual(before);
  expect(await store.load('bad')).toEqual({ events: [note(1), note(2), note(4), note(5), note(6)], damage: loaded.damage });
});

it('B119: a compaction that failed and its second attempt are one event', async () => {
  let isBroken = false;
  const files = stepFiles(forgetfulFiles(), (step) => {
    if (isBroken && step === 'before rename') throw failure('EIO');
  });
  const store = createStore({ directory: '/s', sync: 'always', files, lockFile: freeLock });
  const compaction = (seq: number, attempt: number): StoredEvent[] => [
    { seq, kind: 'assistant_turn', payload: { attempt } },
    { seq: seq + 1, kind: 'compaction_applied', payload: { attempt } },
  ];
  await store.append('a', note(1));
  isBroken = true;
  await expect(store.appendBatch('a', compaction(2, 1))).rejects.toMatchObject({ code: 'store-failed' });
  isBroken = false;
  await store.append('a', note(2));
  await store.appendBatch('a', compaction(3, 2));
  // From the state that the first attempt had, nobody goes on.
  await expect(store.appendBatch('a', compaction(2, 3))).rejects.toMatchObject({ code: 'store-conflict' });
  await store.append('a', note(5));
  expect(await store.load('a')).toEqual({ events: [note(1), note(2), ...compaction(3, 2), note(5)], damage: [] });
});
