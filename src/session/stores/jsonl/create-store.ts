import { join } from 'node:path';
import { CompactionError, isCompactionError } from '../../../errors.ts';
import type { LoadedSession, SessionStore, StoredEvent } from '../../store.ts';
import { checkEvents, checkFollows, checkSessionId } from '../check-append.ts';
import { readCode } from '../read-code.ts';
import { nameFile } from './file-name.ts';
import type { FileLayer } from './files.ts';
import { createKeyedQueue } from './keyed-queue.ts';
import type { LockFile } from './lock.ts';
import { readRecord, writeRecord } from './record.ts';
import { scan } from './scan.ts';
import { openSessionFile, type SessionFile } from './session-file.ts';

/** So many sessions are kept open, and locked. The one that was used longest ago makes room. */
const mostOpen = 256;

export interface StoreParts {
  /** An absolute path. */
  directory: string;
  sync: 'always' | 'batch';
  files: FileLayer;
  lockFile: LockFile;
}

/** The store of `jsonlStore`, over any file system and lock. */
export function createStore({ directory, sync, files, lockFile }: StoreParts): Required<SessionStore> {
  const queue = createKeyedQueue();
  // In order of use.
  const open = new Map<string, SessionFile>();
  const pathOf = (id: string): string => join(directory, nameFile(id));

  const close = async (id: string): Promise<void> => {
    const file = open.get(id);
    open.delete(id);
    await file?.close();
  };

  /** Runs with the session's file. One that failed in any way is closed: what is opened again is what is really there. */
  const write = async (id: string, seq: number, add: (file: SessionFile) => Promise<void>): Promise<void> => {
    await queue.run(id, async () => {
      try {
        const file = open.get(id) ?? (await openSessionFile(pathOf(id), files, lockFile));
        open.delete(id);
        open.set(id, file);
        checkFollows(id, seq, file.lastSeq);
        await add(file);
      } catch (error) {
        await close(id).catch(() => {});
        throw describeFailure(error, id);
      }
    });
    for (const oldest of open.keys()) {
      if (open.size <= mostOpen) break;
      // Stored is stored, whatever becomes of another session's file.
      await queue.run(oldest, () => close(oldest)).catch(() => {});
    }
  };

  return {
    load: async (id) => {
      checkSessionId(id);
      return queue
        .run(id, () => load(pathOf(id), files))
        .catch((error: unknown) => {
          throw describeFailure(error, id);
        });
    },
    append: async (id, event) => {
      checkSessionId(id);
      checkEvents([event]);
      const record = writeRecord(event);
      await write(id, event.seq, (file) => file.append(record, { sync: sync === 'always' }));
    },
    appendBatch: async (id, events) => {
      checkSessionId(id);
      checkEvents(events);
      const records = events.map(writeRecord);
      const [first] = events;
      if (first) await write(id, first.seq, (file) => file.appendBatch(records));
    },
    close: async () => {
      // Those too whose first write is still on its way.
      const ids = [...new Set([...open.keys(), ...queue.keys()])];
      const results = await Promise.allSettled(ids.map((id) => queue.run(id, () => close(id))));
      for (const [index, result] of results.entries())
        if (result.status === 'rejected') throw describeFailure(result.reason, String(ids[index]));
    },
  };
}

/** For display and for going on: lenient, and it writes nothing. */
async function load(path: string, files: FileLayer): Promise<LoadedSession> {
  const file = await files.open(path, 'read');
  if (!file) return { events: [], damage: [] };
  try {
    const events: StoredEvent[] = [];
    const { damage } = await scan(
      file,
      readRecord,
      ({ seq }) => seq,
      (event) => events.push(event),
    );
    return { events, damage };
  } finally {
    await file.close();
  }
}

/** The wording of a system's error names paths: it stays in `cause`. */
function describeFailure(error: unknown, id: string): unknown {
  if (isCompactionError(error)) return error;
  const code = readCode(error);
  const message = `The file of session ${JSON.stringify(id)} could not be read or written${code ? ` (${code})` : ''}; \`cause\` says how.`;
  return new CompactionError('store-failed', message, { cause: error });
}
