import { copyDeep } from '../copy.ts';
import { type CompactionErrorCode, isCompactionError } from '../errors.ts';
import { fingerprint } from '../history/fingerprint.ts';
import { type NewEvent, type SessionEvent, sessionVersion } from './event.ts';
import { checkEvent, readEvent } from './read-event.ts';
import type { SessionStore, StoreDamage, StoredEvent } from './store.ts';

/** The events of one session, as the store has them. */
export interface EventLog {
  /** All events, those of later versions included. */
  readonly stored: readonly StoredEvent[];
  /** Those that are known, as what they are. */
  readonly events: readonly SessionEvent[];
  /** What could not be read. */
  readonly damage: readonly StoreDamage[];
  /** Runs work on the log, one piece after the other, on what the store holds. */
  inOrder<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Stores events behind the last one, all or none, and tells their numbers. Only within `inOrder`. */
  add(events: readonly NewEvent[]): Promise<{ first: number; last: number }>;
  /** Reads everything again. Only within `inOrder`. */
  load(): Promise<void>;
}

/** After these the store may hold something else than is known here. */
const uncertain: ReadonlySet<CompactionErrorCode> = new Set(['store-conflict', 'store-in-doubt']);

export function createEventLog(store: SessionStore, id: string): EventLog {
  let stored: StoredEvent[] = [];
  let events: SessionEvent[] = [];
  let damage: StoreDamage[] = [];
  let isStale = true;
  let last: Promise<unknown> = Promise.resolve();

  async function load(): Promise<void> {
    isStale = true;
    const loaded = await store.load(id);
    stored = loaded.events;
    damage = [...loaded.damage];
    events = [];
    for (const event of stored) {
      const reading = readEvent(event);
      if (!reading) continue;
      if ('event' in reading) events.push(reading.event);
      else damage.push({ reason: 'unreadable', seq: event.seq });
    }
    isStale = false;
  }

  async function add(added: readonly NewEvent[]): Promise<{ first: number; last: number }> {
    const first = (stored.at(-1)?.seq ?? 0) + 1;
    const started: NewEvent = { kind: 'session_started', payload: { version: sessionVersion } };
    const numbered = [...(first === 1 ? [started] : []), ...added].map(
      // The kind stays with its payload, which the spread does not show.
      (event, index) => copyDeep({ seq: first + index, ...event }) as SessionEvent,
    );
    const range = { first, last: first + numbered.length - 1 };
    for (const event of numbered) checkEvent(event);
    const [only, ...others] = numbered;
    try {
      if (only && others.length === 0) await store.append(id, only);
      else await store.appendBatch(id, numbered);
    } catch (error) {
      if (!isCompactionError(error) || !uncertain.has(error.code)) throw error;
      await load().catch(() => undefined); // where that fails it is tried again before the next event
      if (error.code === 'store-in-doubt' && !isStale && isThere(stored, numbered)) return range;
      throw error;
    }
    stored.push(...numbered);
    events.push(...numbered);
    return range;
  }

  return {
    get stored() {
      return stored;
    },
    get events() {
      return events;
    },
    get damage() {
      return damage;
    },
    inOrder(work) {
      const done = last.then(async () => {
        if (isStale) await load();
        return work();
      });
      last = done.catch(() => undefined);
      return done;
    },
    add,
    load,
  };
}

/** True where just these events have these numbers: another writer may have gone on behind them. */
function isThere(stored: readonly StoredEvent[], events: readonly StoredEvent[]): boolean {
  const start = stored.findIndex(({ seq }) => seq === events[0]?.seq);
  return events.every((event, index) => fingerprint(event) === fingerprint(stored[start + index]));
}
