import type { Buffer } from 'node:buffer';
import type { StoreDamage } from '../../store.ts';
import type { OpenFile } from './files.ts';
import { readLines } from './read-lines.ts';
import { measureRecord, recordStart } from './record.ts';

export interface Scan {
  lastSeq: number;
  /** True where the file does not end with a line break: what is appended must not stick to it. */
  torn: boolean;
  damage: StoreDamage[];
}

/** Reads one record from exactly its bytes. Undefined: it is none. */
type Read<Found> = (bytes: Buffer) => Found | undefined;

/** Finds every whole record of a file, before and after whatever is damaged. Linear in the file. */
export async function scan<Found>(
  file: OpenFile,
  read: Read<Found>,
  seqOf: (found: Found) => number,
  onFound: (found: Found) => void,
): Promise<Scan> {
  const damage: StoreDamage[] = [];
  let lastSeq = 0;
  let torn = false;
  let isTraced = false;

  const lose = (offset: number, length: number): void => {
    isTraced = true;
    const last = damage.at(-1);
    // What lies side by side, a line break between at most, is one damage.
    if (last?.reason === 'unreadable' && Number(last.offset) + Number(last.length) + 1 >= offset)
      last.length = offset + length - Number(last.offset);
    else damage.push({ reason: 'unreadable', offset, length });
  };
  const find = (found: Found, offset: number, length: number): void => {
    const seq = seqOf(found);
    if (seq <= lastSeq) {
      damage.push({ reason: 'repeated', offset, length, seq });
      return;
    }
    if (seq > lastSeq + 1 && !isTraced) damage.push({ reason: 'missing', offset, length: 0, seq: lastSeq + 1 });
    lastSeq = seq;
    isTraced = false;
    onFound(found);
  };

  for await (const { bytes, offset, length, ended } of readLines(file)) {
    torn = !ended;
    if (bytes === undefined) lose(offset, length);
    else
      for (const piece of splitLine(bytes, read))
        if (piece.found !== undefined) find(piece.found, offset + piece.start, piece.length);
        else if (!isBlank(bytes.subarray(piece.start, piece.start + piece.length))) lose(offset + piece.start, piece.length);
  }
  return { lastSeq, torn, damage };
}

interface Piece<Found> {
  found: Found | undefined;
  start: number;
  length: number;
}

/** A line is a record, or what a lost line break, a torn write or a flipped bit made of several. */
function* splitLine<Found>(line: Buffer, read: Read<Found>): Generator<Piece<Found>> {
  const whole = read(line);
  if (whole !== undefined) {
    yield { found: whole, start: 0, length: line.byteLength };
    return;
  }
  let start = 0;
  while (start < line.byteLength) {
    const next = line.indexOf(recordStart, start + 1);
    const end = next === -1 ? line.byteLength : next;
    const piece = line.subarray(start, end);
    const length = measureRecord(piece);
    const found = length > 0 ? read(piece.subarray(0, length)) : undefined;
    if (found === undefined) yield { found, start, length: end - start };
    else {
      yield { found, start, length };
      if (start + length < end) yield { found: undefined, start: start + length, length: end - start - length };
    }
    start = end;
  }
}

/** Spaces, carriage returns and byte order marks that an editor left. */
function isBlank(bytes: Buffer): boolean {
  return /^\s*$/.test(bytes.toString('utf8'));
}
