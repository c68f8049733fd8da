import { CompactionError } from '../errors.ts';
import type { SessionStore } from '../session/store.ts';
import { orderChecks } from './store-conformance/order.ts';
import { payloadChecks } from './store-conformance/payloads.ts';

export interface StoreConformanceOptions {
  /** `test` of vitest, jest or `node:test`: each case is registered with it. */
  test?: ((name: string, run: () => Promise<void>) => unknown) | undefined;
}

export interface StoreConformanceCase {
  /** A plain sentence. */
  name: string;
  /** Tries it. Rejects with what was wrong. */
  run: () => Promise<void>;
}

/** Opens the same place each time, as a process that starts later would. Before it is opened again it is closed. */
export type OpenStore = () => SessionStore | PromiseLike<SessionStore>;

/**
 * Proves a session store: what is stored and refused, in which order, that batches are whole, and that texts and bytes come back as
 * they were. Every case uses sessions of its own, so the place need not be empty.
 *
 * @throws CompactionError `invalid-options` where `open` is no function.
 * @example
 * import { test } from 'node:test';
 * storeConformance(() => myStore({ directory }), { test });
 *
 * @example
 * for (const { run } of storeConformance(openStore)) await run();
 */
export function storeConformance(open: OpenStore, { test }: StoreConformanceOptions = {}): StoreConformanceCase[] {
  if (typeof open !== 'function')
    throw new CompactionError('invalid-options', `Expected a function that opens the store, got ${typeof open}.`);
  const use = async <Result>(run: (store: SessionStore) => Promise<Result>): Promise<Result> => {
    const store = await open();
    try {
      return await run(store);
    } finally {
      await store.close?.();
    }
  };
  const cases = [...orderChecks, ...payloadChecks].map(({ name, holds }) => ({
    name,
    run: () => holds({ id: `conformance ${crypto.randomUUID()}`, use }),
  }));
  for (const { name, run } of cases) test?.(name, run);
  return cases;
}
