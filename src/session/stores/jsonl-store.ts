import { resolve } from 'node:path';
import type { SessionStore } from '../store.ts';
import { checkStoreOptions } from './check-store-options.ts';
import { createStore } from './jsonl/create-store.ts';
import { lockFile } from './jsonl/lock.ts';
import { nodeFiles } from './jsonl/node-files.ts';

export interface JsonlStoreOptions {
  /** The folder of the session files. It is made when it is needed, for its owner alone. */
  directory: string;
  /**
   * When what is written is made to survive a power cut. A process that is killed loses nothing in either case.
   * - `always`: before `append` and `appendBatch` are fulfilled. The default.
   * - `batch`: before `appendBatch` is fulfilled, and on `close`. Events of `append` since then may be lost, the newest first.
   */
  sync?: 'always' | 'batch' | undefined;
}

export interface JsonlStore extends SessionStore {
  /** Closes the files and gives the locks back, so that other processes need not wait. */
  close(): Promise<void>;
}

/**
 * Keeps each session in a file of its own, one event a line, readable by the owner alone (mode 0600).
 *
 * - One process writes to a session at a time, from its first `append` until `close`; it is refused with `store-locked` while another one
 *   lives. The lock of one that was killed is taken over within ten seconds. Reading needs no lock: what another
 *   process is writing at that very moment may look like a torn line.
 * - `append` costs the same in a long session as in a short one; `appendBatch` writes the file anew, so that all of its events are there
 *   or none.
 * - Every event carries a checksum. What is damaged is reported by `load`, stays in the file, and costs none of the events around it.
 *
 * @throws CompactionError `invalid-options`
 *
 * @example
 * const store = jsonlStore({ directory: './sessions' });
 * const { events } = await store.load('chat');
 * await store.append('chat', { seq: (events.at(-1)?.seq ?? 0) + 1, kind: 'note', payload: { text: 'Hello.' } });
 * await store.close();
 */
export function jsonlStore(options: JsonlStoreOptions): JsonlStore {
  checkStoreOptions(options, {
    directory: { holds: (value) => typeof value === 'string' && value !== '', is: 'the path of a folder' },
    sync: { holds: (value) => value === undefined || value === 'always' || value === 'batch', is: 'one of always, batch' },
  });
  const { directory, sync = 'always' } = options;
  // Now, so that a later `chdir` changes nothing.
  return createStore({ directory: resolve(directory), sync, files: nodeFiles, lockFile });
}
