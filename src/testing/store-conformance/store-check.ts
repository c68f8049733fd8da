import { isCompactionError } from '../../errors.ts';
import type { SessionStore, StoredEvent } from '../../session/store.ts';
import { expectThat, isSame, preview } from '../conformance/check.ts';

/** One promise of every store. Throws where it is broken. */
export interface StoreCheck {
  /** A plain sentence. */
  name: string;
  holds: (place: Place) => Promise<void>;
}

/** Where events are kept, whoever has it open. */
export interface Place {
  /** A session that no other check uses. */
  id: string;
  /** Opens the store, uses it, and closes it again. */
  use<Result>(run: (store: SessionStore) => Promise<Result>): Promise<Result>;
}

/** Events from a number on, one for each payload. */
export function makeEvents(first: number, payloads: readonly unknown[]): StoredEvent[] {
  return payloads.map((payload, index) => ({ seq: first + index, kind: 'note', payload }));
}

/** Loads from the store that is opened anew, and compares. */
export async function expectStored({ id, use }: Place, events: readonly StoredEvent[], what: string): Promise<void> {
  const loaded = await use((store) => store.load(id));
  expectThat(
    isSame(loaded.events, events),
    () => `${what}: expected ${preview(events)} to be loaded, got ${preview(loaded.events)}`,
  );
  expectThat(loaded.damage.length === 0, () => `${what}: nothing is damaged, but ${preview(loaded.damage)} was reported`);
}

/** It must reject with a code, and at once or later, but not throw. */
export async function expectCode(what: string, run: () => Promise<unknown>, ...codes: string[]): Promise<void> {
  const outcome = await run().then(
    () => 'fulfilled',
    (error: unknown) => (isCompactionError(error) ? error.code : String(error)),
  );
  expectThat(codes.includes(outcome), `${what}: expected ${codes.join(' or ')}, got ${outcome}`);
}
