/** One event as it is stored. */
export interface StoredEvent {
  /** 1 for the first event of a session, then one more each. */
  seq: number;
  /** A short name, for instance `user_message`. */
  kind: string;
  /** JSON values and `Uint8Array`s, which come back as they were. What JSON leaves out, a function for instance, is left out. */
  payload: unknown;
}

/** What a store could not read back. What is damaged stays where it is: nothing is overwritten. */
export interface StoreDamage {
  /**
   * - `unreadable`: bytes or a row that are no event (any more).
   * - `repeated`: an event whose `seq` was there before. The first one counts.
   * - `missing`: events are gone without a trace: `seq` is the first of them.
   */
  reason: 'unreadable' | 'repeated' | 'missing';
  /** Where in the file, in bytes. Stores without a file leave it out. */
  offset?: number;
  /** How many bytes. */
  length?: number;
  /** The event's number, where it is known. */
  seq?: number;
}

export interface LoadedSession {
  /** Ascending by `seq`. Copies: changing them changes nothing in the store. */
  events: StoredEvent[];
  /** Empty where everything could be read. */
  damage: StoreDamage[];
}

/**
 * Keeps the events of sessions. A session exists from its first event on; an id that is not known loads as an empty one.
 *
 * `seq` is the lock: events are stored only where they follow directly on what the store holds when they arrive, so of two writers that
 * started from the same state one is refused. `storeConformance` of `context-compactor/testing` proves an own store.
 */
export interface SessionStore {
  /**
   * Everything that can be read, and what cannot. Throws `store-failed` where the storage does not answer; damage is no error.
   */
  load(id: string): Promise<LoadedSession>;
  /**
   * Stores one event for good.
   *
   * @throws CompactionError `invalid-event`, `store-conflict`, `store-locked` or `store-failed`: it is not stored. `store-in-doubt`: it may
   * be; `load` tells.
   */
  append(id: string, event: StoredEvent): Promise<void>;
  /** Stores all of the events or none; their `seq` is consecutive. Nothing happens for an empty list. Throws as `append`. */
  appendBatch(id: string, events: readonly StoredEvent[]): Promise<void>;
  /** Gives back files, locks and the like. The store opens them again when it is used again. */
  close?(): Promise<void>;
}
