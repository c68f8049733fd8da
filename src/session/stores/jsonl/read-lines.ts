import { Buffer } from 'node:buffer';
import type { OpenFile } from './files.ts';
import { longestRecord } from './record.ts';

const chunkSize = 256 * 1024;

export interface Line {
  /** Without its line break. Undefined where it is longer than any record. */
  bytes: Buffer | undefined;
  offset: number;
  length: number;
  /** False: the file ends without a line break. */
  ended: boolean;
}

/** The lines of a file, framed by 0x0A and nothing else: other line breaks are text. */
export async function* readLines(file: OpenFile): AsyncGenerator<Line> {
  let kept: Buffer[] = [];
  let length = 0;
  let offset = 0;
  const take = (bytes: Buffer): void => {
    length += bytes.byteLength;
    if (length <= longestRecord) kept.push(bytes);
    else kept = [];
  };
  const line = (ended: boolean): Line => {
    const bytes = length > longestRecord ? undefined : kept.length === 1 ? kept[0] : Buffer.concat(kept);
    const read = { bytes, offset, length, ended };
    offset += length + 1;
    kept = [];
    length = 0;
    return read;
  };
  for (let position = 0; ; ) {
    const chunk = Buffer.allocUnsafe(chunkSize);
    const size = await file.read(chunk, position);
    if (size === 0) break;
    position += size;
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1 && end < size; end = chunk.indexOf(0x0a, start)) {
      take(chunk.subarray(start, end));
      yield line(true);
      start = end + 1;
    }
    take(chunk.subarray(start, size));
  }
  if (length > 0) yield line(false);
}
