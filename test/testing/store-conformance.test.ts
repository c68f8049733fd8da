import { expect, it } from 'vitest';
import type { SessionStore, StoredEvent } from '../../src/session/store.ts';
import { memoryStore } from '../../src/session/stores/memory-store.ts';
import { storeConformance } from '../../src/testing/store-conformance.ts';

/** What the kit finds wrong with a store. */
async function faultsOf(open: () => SessionStore): Promise<string[]> {
  const faults: string[] = [];
  for (const { name, run } of storeConformance(open))
    await run().catch((error: unknown) => {
      faults.push(`${name}: ${String(error)}`);
    });
  return faults;
}

/** A store that breaks one promise. */
const broken: Record<string, (store: SessionStore) => Partial<SessionStore>> = {
  'takes events that do not follow': (store) => {
    const sessions = new Map<string, StoredEvent[]>();
    return {
      load: async (id) => ({ events: structuredClone(sessions.get(id) ?? []), damage: [] }),
      appendBatch: async (id, events) => {
        await store
          .appendBatch(
            `${id} checked`,
            events.map((event, index) => ({ ...event, seq: index + 1 })),
          )
          .catch(() => {});
        sessions.set(id, [...(sessions.get(id) ?? []), ...structuredClone([...events])]);
      },
    };
  },
  'stores a part of a batch': (store) => ({
    appendBatch: async (id, events) => {
      for (const event of events) await store.append(id, event);
    },
  }),
  'forgets the last event': (store) => ({
    load: async (id) => {
      const loaded = await store.load(id);
      return { ...loaded, events: loaded.events.slice(0, -1) };
    },
  }),
  'mixes capitals': (store) => ({
    load: (id) => store.load(id.toLowerCase()),
    append: (id, event) => store.append(id.toLowerCase(), event),
    appendBatch: (id, events) => store.appendBatch(id.toLowerCase(), events),
  }),
  'keeps bytes as lists of numbers': (store) => ({
    appendBatch: (id, events) => store.appendBatch(id, JSON.parse(JSON.stringify(events))),
  }),
  'reads texts as lines': (store) => ({
    appendBatch: (id, events) => {
      const text = JSON.stringify(events).replaceAll('\u2028', ' ');
      return store.appendBatch(id, JSON.parse(text));
    },
  }),
  'tells of damage where there is none': (store) => ({
    load: async (id) => ({ ...(await store.load(id)), damage: [{ reason: 'unreadable' }] }),
  }),
  'throws errors without a code': (store) => ({
    appendBatch: (id, events) =>
      store.appendBatch(id, events).catch(() => {
        throw new Error('failed');
      }),
  }),
};

it('a store that keeps its promises passes', async () => {
  const store = memoryStore();
  expect(await faultsOf(() => store)).toEqual([]);
});

it.each(Object.entries(broken))('a store that %s is found out', async (_name, breakStore) => {
  const store = memoryStore();
  expect(await faultsOf(() => ({ ...store, ...breakStore(store) }))).not.toEqual([]);
});

it('a store that loses everything when it is opened again is found out', async () => {
  expect(await faultsOf(() => memoryStore())).not.toEqual([]);
});

it('each case is registered with the test function that it is given', () => {
  const names: string[] = [];
  const store = memoryStore();
  const cases = storeConformance(() => store, { test: (name) => names.push(name) });
  expect(names).toEqual(cases.map(({ name }) => name));
  expect(names.length).toBeGreaterThan(8);
});

it('says so where it is given no function that opens a store', () => {
  const given = memoryStore() as never; // as a caller without types gives it
  expect(() => storeConformance(given)).toThrow('Expected a function that opens the store, got object.');
});
