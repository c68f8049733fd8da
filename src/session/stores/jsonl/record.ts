import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { CompactionError } from '../../../errors.ts';
import type { StoredEvent } from '../../store.ts';
import { readPayload, writePayload } from '../payload-text.ts';

// `{ "crc32": "0123abcd", "seq":1,"kind":"…","payload":…}`: a line of JSON. The checksum is over all that follows it, so that a flipped bit
// is seen. `JSON.stringify` writes no space between tokens and escapes quotes, so `{ "` is nowhere but at the beginning of a record.
const opening = '{ "crc32": "';
const prefixLength = `${opening}01234567", `.length;

/** Finds where a record begins. */
export const recordStart: Uint8Array = Buffer.from('{ "');

/** Longer records are neither written nor read: what reads must have room for a whole one. */
export const longestRecord: number = 256 * 1024 * 1024;

/**
 * An event as a line with its line break.
 *
 * @throws CompactionError `invalid-event`
 */
export function writeRecord({ seq, kind, payload }: StoredEvent): Uint8Array {
  const body = Buffer.from(`"seq":${seq},"kind":${JSON.stringify(kind)},"payload":${writePayload(payload)}}`);
  if (body.byteLength > longestRecord - 100)
    throw new CompactionError(
      'invalid-event',
      `Expected event ${seq} to be under ${longestRecord} bytes, got ${body.byteLength}.`,
    );
  return Buffer.concat([Buffer.from(writePrefix(crc32(body))), body, Buffer.from('\n')]);
}

/** The event that exactly these bytes are, or undefined. */
export function readRecord(bytes: Buffer): StoredEvent | undefined {
  const seq = readSeq(bytes);
  if (seq === undefined) return undefined;
  const text = bytes.toString('utf8', prefixLength);
  try {
    const event = readPayload(`{${text}`);
    // The checksum is right, so this is what `writeRecord` made.
    return event as StoredEvent;
  } catch {
    return undefined;
  }
}

/** The number of the event that exactly these bytes are, or undefined: for whoever needs no more. */
export function readSeq(bytes: Buffer): number | undefined {
  const prefix = bytes.toString('latin1', 0, prefixLength);
  if (prefix !== writePrefix(crc32(bytes.subarray(prefixLength)))) return undefined;
  return Number(/^"seq":(\d+),/.exec(bytes.toString('latin1', prefixLength, prefixLength + 30))?.[1] ?? Number.NaN) || undefined;
}

/**
 * How long the record is that these bytes begin with, whatever follows it. 0: they begin with none. Linear: the checksum grows with the
 * bytes.
 */
export function measureRecord(bytes: Buffer): number {
  const prefix = bytes.toString('latin1', 0, prefixLength);
  const expected = Number.parseInt(prefix.slice(opening.length), 16);
  if (prefix !== writePrefix(expected)) return 0;
  let sum = 0;
  for (let from = prefixLength, brace = bytes.indexOf('}', from); brace !== -1; brace = bytes.indexOf('}', from)) {
    sum = crc32(bytes.subarray(from, brace + 1), sum);
    from = brace + 1;
    if (sum === expected) return from;
  }
  return 0;
}

function writePrefix(sum: number): string {
  return `${opening}${sum.toString(16).padStart(8, '0')}", `;
}
