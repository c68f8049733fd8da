import { isDeepStrictEqual } from 'node:util';
import type { StoredEvent } from '../../src/session/store.ts';

/** Which write an event belongs to. */
export interface Origin {
  run: number;
  write: number;
  index: number;
  count: number;
}

/** The same event for the same place and origin, wherever it is made. */
function makeEvent(seq: number, { run, write, index, count }: Origin): StoredEvent {
  const bytes = Uint8Array.from({ length: (seq * 7) % 300 }, (_, place) => (place * run) & 255);
  const text = `${'line\u2028\n'.repeat((seq * 13) % 40)}${'x'.repeat(seq % 17 === 0 ? 70_000 : 10)}`;
  return { seq, kind: 'note', payload: { run, write, index, count, text, bytes } };
}

/** The events of one write, an append or a batch. */
export function makeWrite(first: number, run: number, write: number, count: number): StoredEvent[] {
  return Array.from({ length: count }, (_, index) => makeEvent(first + index, { run, write, index, count }));
}

export interface Verdict {
  lost: number;
  doubled: number;
  /** Events that are not what was written, or of a batch that is not whole. */
  broken: number;
}

/** Compares what was loaded with what a store said was stored. What was tried without an answer may be there. */
export function judge(loaded: readonly StoredEvent[], acknowledged: readonly StoredEvent[]): Verdict {
  const bySeq = new Map(loaded.map((event) => [event.seq, event]));
  const origins = new Map<string, number>();
  const wholes = new Map<string, number>();
  let broken = 0;
  for (const [index, event] of loaded.entries()) {
    // `makeEvent` made it, or the comparison says that it did not.
    const origin = event.payload as Origin;
    if (event.seq !== index + 1 || !isDeepStrictEqual(event, makeEvent(event.seq, origin))) broken++;
    const write = `${origin.run} ${origin.write}`;
    origins.set(`${write} ${origin.index}`, (origins.get(`${write} ${origin.index}`) ?? 0) + 1);
    wholes.set(write, (wholes.get(write) ?? 0) + 1 / origin.count);
  }
  for (const whole of wholes.values()) if (Math.abs(whole - 1) > 0.001) broken++;
  return {
    lost: acknowledged.filter((event) => !isDeepStrictEqual(bySeq.get(event.seq), event)).length,
    doubled: [...origins.values()].filter((times) => times > 1).length + loaded.length - bySeq.size,
    broken,
  };
}
