import type { LockFile } from '../../src/session/stores/jsonl/lock.ts';

/** For file systems that are no real ones: nobody else is there. */
export const freeLock: LockFile = async () => ({ isHeld: () => true, release: async () => {} });
