import { CompactionError } from '../../errors.ts';
import type { StoredEvent } from '../store.ts';

/** Long enough for every name, short enough for the index of a database. */
const maximumBytes = 512;

/**
 * What every store asks of a session's name.
 *
 * @throws CompactionError `invalid-options`
 */
export function checkSessionId(id: string): void {
  // From JavaScript anything may come.
  const fault = typeof id === 'string' ? faultOfName(id) : `a ${typeof id}`;
  if (fault)
    throw new CompactionError('invalid-options', `Expected \`id\` to be a text of 1 to ${maximumBytes} bytes, got ${fault}.`);
}

/**
 * What every store asks of events, wherever it keeps them.
 *
 * @throws CompactionError `invalid-event`
 */
export function checkEvents(events: readonly StoredEvent[]): void {
  // From JavaScript anything may come.
  if (!Array.isArray(events)) throw invalid(`Expected a list of events, got ${typeof events}.`);
  const first: unknown = events[0]?.seq;
  for (const [index, event] of events.entries()) {
    if (typeof event !== 'object' || event === null) throw invalid(`Expected an event at place ${index}, got ${String(event)}.`);
    const { seq, kind }: { seq: unknown; kind: unknown } = event;
    if (!Number.isSafeInteger(seq) || Number(seq) < 1)
      throw invalid(`Expected \`seq\` to be a whole number over 0, got ${describe(seq)}.`);
    if (seq !== Number(first) + index)
      throw invalid(`Expected \`seq\` to count up in a batch, got ${seq} at place ${index} after ${first} at 0.`);
    const fault = typeof kind === 'string' ? faultOfName(kind) : `a ${typeof kind}`;
    if (fault) throw invalid(`Expected \`kind\` of event ${seq} to be a text of 1 to ${maximumBytes} bytes, got ${fault}.`);
  }
}

/**
 * The lock of every store: what is stored follows on what is there.
 *
 * @throws CompactionError `store-conflict`
 */
export function checkFollows(id: string, seq: number, lastSeq: number): void {
  if (seq !== lastSeq + 1) throw conflict(id, seq, lastSeq);
}

export function conflict(id: string, seq: number, lastSeq: number): CompactionError {
  return new CompactionError(
    'store-conflict',
    `Expected event ${lastSeq + 1} of session ${JSON.stringify(id)}, got ${seq}: the session has gone on since it was loaded.`,
  );
}

function describe(value: unknown): string {
  return typeof value === 'number' ? String(value) : `a ${typeof value}`;
}

function invalid(message: string): CompactionError {
  return new CompactionError('invalid-event', message);
}

function faultOfName(name: string): string | undefined {
  if (name === '') return 'an empty one';
  // No storage takes NUL in a name, and a lone half of a character has no bytes of its own.
  if (name.includes('\0')) return 'one with a NUL in it';
  if (!name.isWellFormed()) return 'one with half a character in it';
  const bytes = new TextEncoder().encode(name).byteLength;
  return bytes > maximumBytes ? `one of ${bytes} bytes` : undefined;
}
