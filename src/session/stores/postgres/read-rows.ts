import type { LoadedSession, StoredEvent } from '../../store.ts';
import { readPayload } from '../payload-text.ts';

/** The events of rows that are in order. What somebody else wrote into the table is reported, not trusted. */
export function readRows(rows: readonly unknown[]): LoadedSession {
  const loaded: LoadedSession = { events: [], damage: [] };
  let lastSeq = 0;
  for (const row of rows) {
    // Drivers give bigints as text.
    const seq = Number(readColumn(row, 'seq'));
    if (!Number.isSafeInteger(seq) || seq < 1) {
      loaded.damage.push({ reason: 'unreadable' });
      continue;
    }
    // In a table that was made without its key.
    if (seq === lastSeq) {
      loaded.damage.push({ reason: 'repeated', seq });
      continue;
    }
    if (seq > lastSeq + 1) loaded.damage.push({ reason: 'missing', seq: lastSeq + 1 });
    lastSeq = seq;
    const event = readEvent(seq, readColumn(row, 'kind'), readColumn(row, 'payload'));
    if (event) loaded.events.push(event);
    else loaded.damage.push({ reason: 'unreadable', seq });
  }
  return loaded;
}

export function readColumn(row: unknown, name: string): unknown {
  return typeof row === 'object' && row !== null ? Reflect.get(row, name) : undefined;
}

function readEvent(seq: number, kind: unknown, payload: unknown): StoredEvent | undefined {
  if (typeof kind !== 'string' || kind === '') return undefined;
  try {
    return { seq, kind, payload: readPayload(String(payload)) };
  } catch {
    return undefined;
  }
}
