import type { LoadedSession, SessionStore, StoredEvent } from '../store.ts';
import { checkEvents, checkFollows, checkSessionId } from './check-append.ts';
import { readPayload, writePayload } from './payload-text.ts';

/**
 * Keeps sessions as long as the process lives: for tests and for programs that need no more. It holds what it is given until it is
 * dropped itself.
 *
 * @example
 * const store = memoryStore();
 * await store.append('chat', { seq: 1, kind: 'note', payload: { text: 'Hello.' } });
 * (await store.load('chat')).events; // [{ seq: 1, kind: 'note', payload: { text: 'Hello.' } }]
 */
export function memoryStore(): SessionStore {
  // As text: what is changed outside changes nothing here, and what is read back is what any other store gives back.
  const sessions = new Map<string, { kind: string; payload: string }[]>();

  const appendBatch = async (id: string, events: readonly StoredEvent[]): Promise<void> => {
    checkSessionId(id);
    checkEvents(events);
    const written = events.map(({ kind, payload }) => ({ kind, payload: writePayload(payload) }));
    const [first] = events;
    if (!first) return;
    const stored = sessions.get(id) ?? [];
    checkFollows(id, first.seq, stored.length);
    for (const event of written) stored.push(event);
    sessions.set(id, stored);
  };

  return {
    load: async (id: string): Promise<LoadedSession> => {
      checkSessionId(id);
      const stored = sessions.get(id) ?? [];
      const events = stored.map(({ kind, payload }, index) => ({ seq: index + 1, kind, payload: readPayload(payload) }));
      return { events, damage: [] };
    },
    append: (id, event) => appendBatch(id, [event]),
    appendBatch,
  };
}
