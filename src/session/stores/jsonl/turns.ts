/** Lets what concerns the same name happen one after the other. */
export interface Turns {
  take<Result>(name: string, run: () => Promise<Result>): Promise<Result>;
  /** Names that somebody waits for, or has. */
  names(): Iterable<string>;
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    take: async (name, run) => {
      const turn = (last.get(name) ?? Promise.resolve()).then(run);
      // Who comes next waits for the end, however it ends.
      const end = turn.catch(() => {});
      last.set(name, end);
      try {
        return await turn;
      } finally {
        if (last.get(name) === end) last.delete(name);
      }
    },
    names: () => last.keys(),
  };
}
