/** Runs work for the same key one after the other. */
export interface KeyedQueue {
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
  /** Those with work that runs or waits. */
  keys(): Iterable<string>;
}

export function createKeyedQueue(): KeyedQueue {
  const last = new Map<string, Promise<unknown>>();
  return {
    run: async (key, work) => {
      const done = (last.get(key) ?? Promise.resolve()).then(work);
      // Who comes next waits for the end, however it ends.
      const end = done.catch(() => {});
      last.set(key, end);
      try {
        return await done;
      } finally {
        if (last.get(key) === end) last.delete(key);
      }
    },
    keys: () => last.keys(),
  };
}
