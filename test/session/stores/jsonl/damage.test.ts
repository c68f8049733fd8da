import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LoadedSession, SessionStore, StoredEvent } from '../../../../src/session/store.ts';
import { createStore } from '../../../../src/session/stores/jsonl/create-store.ts';
import { nameFile } from '../../../../src/session/stores/jsonl/file-name.ts';
import type { FileLayer } from '../../../../src/session/stores/jsonl/files.ts';
import { writeRecord } from '../../../../src/session/stores/jsonl/record.ts';
import { forgetfulFiles } from '../../../support/forgetful-files.ts';
import { freeLock } from '../../../support/memory-lock.ts';

const path = `/s/${nameFile('a')}`;
const note = (seq: number, text: string): StoredEvent => ({ seq, kind: 'note', payload: text });

/** A store whose session has exactly these bytes. */
async function storeOver(bytes: Uint8Array): Promise<{ store: SessionStore; files: FileLayer; raw: () => Promise<Buffer> }> {
  const files = forgetfulFiles();
  await files.makeFolder('/s');
  await (await files.open(path, 'append'))!.write(bytes);
  const raw = async (): Promise<Buffer> => {
    const file = (await files.open(path, 'read'))!;
    const all = Buffer.alloc((await file.facts()).size);
    await file.read(all, 0);
    return all;
  };
  return { store: createStore({ directory: '/s', sync: 'always', files, lockFile: freeLock }), files, raw };
}

const events = Array.from({ length: 20 }, (_, index) =>
  note(index + 1, `${index} { \u2028 "quoted" 😀 \n`.repeat(1 + (index % 3))),
);
const records = events.map(writeRecord);
const whole = Buffer.concat(records);
/** Where each record begins, and where it ends with its line break. */
const ends = records.map((_, index) => records.slice(0, index + 1).reduce((size, { byteLength }) => size + byteLength, 0));
const starts = [0, ...ends.slice(0, -1)];

/** The events of which no byte is in the range; a line break alone is none of an event. */
const outside = (from: number, to: number): StoredEvent[] =>
  events.filter((_, index) => to <= starts[index]! || from >= ends[index]! - 1);

/** Damaged bytes are told of, all of them or with their neighbours. */
const covers = ({ damage }: LoadedSession, at: number): boolean =>
  damage.some(({ offset = 0, length = 0 }) => offset <= at && at < offset + length);

/** What is appended is there afterwards, with all that was there, on a line of its own; and so is a batch. */
async function expectToGoOn(bytes: Buffer, kept: StoredEvent[]): Promise<void> {
  const { store, raw } = await storeOver(bytes);
  const next = (kept.at(-1)?.seq ?? 0) + 1;
  await store.append('a', note(next, 'appended'));
  await store.appendBatch('a', [note(next + 1, 'batched'), note(next + 2, 'batched too')]);
  await store.append('a', note(next + 3, 'appended again'));
  const more = [
    note(next, 'appended'),
    note(next + 1, 'batched'),
    note(next + 2, 'batched too'),
    note(next + 3, 'appended again'),
  ];
  expect((await store.load('a')).events).toEqual([...kept, ...more]);
  const after = await raw();
  expect(after.subarray(0, bytes.byteLength).equals(bytes)).toBe(true);
  expect(after.toString().split('\n').slice(-5, -1)).toEqual(
    more.map((event) => Buffer.from(writeRecord(event)).toString().trimEnd()),
  );
}

it('cut at any byte, everything before the cut is there, the rest is reported, and writing goes on', async () => {
  for (let at = 0; at <= whole.byteLength; at++) {
    const bytes = whole.subarray(0, at);
    const { store } = await storeOver(bytes);
    const loaded = await store.load('a');
    const kept = events.filter((_, index) => ends[index]! - 1 <= at);
    expect(loaded.events).toEqual(kept);
    const from = ends[kept.length - 1] ?? 0;
    expect(loaded.damage).toEqual(from < at ? [{ reason: 'unreadable', offset: from, length: at - from }] : []);
    await expectToGoOn(bytes, kept);
  }
});

it('with any bit flipped, every other event is there, and the flipped byte is reported', async () => {
  for (let at = 0; at < whole.byteLength; at++)
    for (const bit of [at % 8, (at * 5 + 3) % 8, 5]) {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 1 << bit;
      const { store } = await storeOver(bytes);
      const loaded = await store.load('a');
      expect(loaded.events).toEqual(outside(at, at + 1));
      // A line break that became a space or the like changes no event and is none either.
      if (!/^\s$/.test(String.fromCharCode(bytes[at]!)) || loaded.events.length < events.length)
        expect(covers(loaded, at)).toBe(true);
    }
});

it.each([
  ['NULs', (length: number) => Buffer.alloc(length)],
  ['0xFF', (length: number) => Buffer.alloc(length, 0xff)],
  ['line breaks', (length: number) => Buffer.alloc(length, '\n')],
  ['the beginning of records', (length: number) => Buffer.alloc(length, '{ "crc32": "')],
  ['braces', (length: number) => Buffer.alloc(length, '}{')],
])('with a run of %s anywhere, every event outside of it is there, and writing goes on', async (_name, fill) => {
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.byteLength), fc.integer({ min: 1, max: 700 }), async (from, length) => {
      const to = Math.min(whole.byteLength, from + length);
      const bytes = Buffer.concat([whole.subarray(0, from), fill(to - from), whole.subarray(to)]);
      const { store } = await storeOver(bytes);
      const loaded = await store.load('a');
      expect(loaded.events).toEqual(expect.arrayContaining(outside(from, to)));
      expect(loaded.events.length).toBeLessThanOrEqual(outside(from, to).length + 1);
      await expectToGoOn(bytes, loaded.events);
    }),
    { numRuns: 150 },
  );
});

it('with any bytes put in anywhere, no event is wrong, and only the one that they are in is lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.byteLength), fc.uint8Array({ minLength: 1, maxLength: 80 }), async (at, put) => {
      const { store } = await storeOver(Buffer.concat([whole.subarray(0, at), put, whole.subarray(at)]));
      const loaded = await store.load('a');
      for (const event of loaded.events) expect(event).toEqual(events[event.seq - 1]);
      expect(loaded.events.length).toBeGreaterThanOrEqual(events.length - 1);
    }),
    { numRuns: 500 },
  );
});

it('a byte order mark, carriage returns, blank lines and a missing line break at the end are no damage', async () => {
  const text = `\ufeff${whole.toString().replaceAll('\n', '\r\n\n')}`;
  for (const bytes of [Buffer.from(text), whole.subarray(0, -1), Buffer.from(text.trimEnd())]) {
    const { store } = await storeOver(bytes);
    expect(await store.load('a')).toEqual({ events, damage: [] });
    await expectToGoOn(bytes, events);
  }
});

it('an event that is there twice counts once, and the second one is reported', async () => {
  const other = writeRecord(note(5, 'another fifth'));
  const { store } = await storeOver(Buffer.concat([...records.slice(0, 5), records[4]!, other, ...records.slice(5)]));
  expect(await store.load('a')).toEqual({
    events,
    damage: [
      { reason: 'repeated', seq: 5, offset: ends[4], length: records[4]!.byteLength - 1 },
      { reason: 'repeated', seq: 5, offset: ends[4]! + records[4]!.byteLength, length: other.byteLength - 1 },
    ],
  });
});

it('events that are gone without a trace are reported', async () => {
  const { store } = await storeOver(Buffer.concat([...records.slice(0, 5), ...records.slice(8)]));
  const { events: loaded, damage } = await store.load('a');
  expect(loaded).toEqual([...events.slice(0, 5), ...events.slice(8)]);
  expect(damage).toEqual([{ reason: 'missing', seq: 6, offset: ends[4], length: 0 }]);
});

it('events that hold what looks like records, and are damaged, cost none of the others', async () => {
  const nested = note(2, `${Buffer.from(records[0]!)}${Buffer.from(records[4]!)}`.repeat(3));
  const bytes = Buffer.concat([records[0]!, writeRecord(nested), records[2]!]);
  bytes[records[0]!.byteLength + 40]! ^= 1;
  const { store } = await storeOver(bytes);
  expect((await store.load('a')).events).toEqual([events[0], events[2]]);
});

it('a file of NULs, longer than any event, is one damage', async () => {
  const size = 300 * 1024 * 1024;
  const files: FileLayer = {
    ...forgetfulFiles(),
    open: async () => ({
      facts: async () => ({ size, identity: '1' }),
      read: async (into, position) => {
        into.fill(0);
        return Math.min(into.byteLength, size - position);
      },
      write: async () => {},
      truncate: async () => {},
      sync: async () => {},
      close: async () => {},
    }),
  };
  const store = createStore({ directory: '/s', sync: 'always', files, lockFile: freeLock });
  expect(await store.load('a')).toEqual({ events: [], damage: [{ reason: 'unreadable', offset: 0, length: size }] });
});
