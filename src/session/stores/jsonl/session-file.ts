import { Buffer } from 'node:buffer';
import { basename, dirname } from 'node:path';
import { CompactionError } from '../../../errors.ts';
import type { FileLayer, OpenFile } from './files.ts';
import type { HeldLock, LockFile } from './lock.ts';
import { readSeq } from './record.ts';
import { scan } from './scan.ts';

const chunkSize = 1024 * 1024;

/** A session's file, open for its one writer. After anything was thrown it must be closed. */
export interface SessionFile {
  readonly lastSeq: number;
  /** Adds a record at the end. Rejects with the old state on disk, or with `store-in-doubt`. */
  append(record: Uint8Array, options: { sync: boolean }): Promise<void>;
  /** Adds records, all or none, by a new file in the place of the old one. What was not yet safe is so afterwards. */
  appendBatch(records: readonly Uint8Array[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Locks a session's file, makes it if need be, and finds its end.
 *
 * @throws CompactionError `store-locked`
 */
export async function openSessionFile(path: string, files: FileLayer, lockFile: LockFile): Promise<SessionFile> {
  await files.makeFolder(dirname(path));
  const lock = await lockFile(path);
  try {
    return await openLocked(path, files, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openLocked(path: string, files: FileLayer, lock: HeldLock): Promise<SessionFile> {
  const folder = dirname(path);
  const name = basename(path);
  const temporary = `${path}.tmp`;
  // Of a batch that was cut off by the end of its process.
  await files.remove(temporary);
  let file = await openThere(files, path, 'append');
  let isOpen = true;
  // Somebody may have written to it who did not live to make sure of it.
  let isSafe = false;
  /** What was written is safe afterwards. */
  const closeFile = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    try {
      if (!isSafe) await file.sync();
      isSafe = true;
    } finally {
      await file.close();
    }
  };

  try {
    let { size, identity } = await file.facts();
    let { lastSeq, torn } = await scan(file, readSeq, Number, () => {});
    // The file may be new.
    await files.syncFolder(folder);

    const isAsLeft = async (): Promise<boolean> => {
      const facts = await files.stat(path);
      return facts?.size === size && facts.identity === identity;
    };
    /** A process that was stopped for long may have lost its lock without knowing it yet. */
    const checkOwner = async (): Promise<void> => {
      if (!lock.isHeld()) throw lockLost(name);
      if (!(await isAsLeft()))
        throw new CompactionError('store-conflict', `Expected ${name} to have no other writer, but it has changed.`);
    };
    /** Whether the temporary file is this one. */
    const isOurs = async (next: OpenFile): Promise<boolean> =>
      (await files.stat(temporary))?.identity === (await next.facts()).identity;
    /** What is added never sticks to a torn line, which stays where it is. */
    const join = (records: readonly Uint8Array[]): Uint8Array => Buffer.concat(torn ? [lineBreak, ...records] : records);
    const added = (bytes: Uint8Array, count: number): void => {
      size += bytes.byteLength;
      lastSeq += count;
      torn = false;
    };

    return {
      get lastSeq() {
        return lastSeq;
      },

      append: async (record, { sync }) => {
        await checkOwner();
        const bytes = join([record]);
        try {
          await file.write(bytes);
          if (sync) await file.sync();
        } catch (error) {
          // If it cannot be taken back, the next one to load finds it, or a torn line.
          throw await takeBack(file, size).then(
            () => error,
            () => inDoubt(name, error),
          );
        }
        // The whole of the file is synced, not only what was added.
        isSafe = sync;
        added(bytes, 1);
        // If the lock was lost after all, this may stand behind another writer's event of that number, or in a file that was replaced.
        if (!(await isAsLeft().catch(() => false))) throw inDoubt(name, new Error('Another process has changed the file.'));
      },

      appendBatch: async (records) => {
        await checkOwner();
        const next = await openThere(files, temporary, 'create');
        const bytes = join(records);
        try {
          await copyBytes(file, next, size);
          await next.write(bytes);
          await next.sync();
          const { identity: nextIdentity } = await next.facts();
          // Some systems rename over no open file.
          await closeFile();
          // Who took the lock meanwhile has removed the file, and may have made its own.
          if (!(await isOurs(next))) throw lockLost(name);
          await checkOwner();
          await files.rename(temporary, path);
          await files.syncFolder(folder);
          identity = nextIdentity;
        } catch (error) {
          // If it stays, the next opening removes it.
          if (await isOurs(next).catch(() => false)) await files.remove(temporary).catch(() => {});
          await next.close().catch(() => {});
          const isUnchanged = await files.stat(path).then(
            (facts) => facts?.identity === identity,
            () => false,
          );
          throw isUnchanged ? error : inDoubt(name, error);
        }
        file = next;
        isOpen = true;
        isSafe = true;
        added(bytes, records.length);
      },

      close: async () => {
        try {
          await closeFile();
        } finally {
          await lock.release();
        }
      },
    };
  } catch (error) {
    await closeFile();
    throw error;
  }
}

/** For good: what was not stored must not be there after a power cut either. */
async function takeBack(file: OpenFile, size: number): Promise<void> {
  await file.truncate(size);
  await file.sync();
}

const lineBreak = Buffer.from('\n');

async function openThere(files: FileLayer, path: string, mode: 'append' | 'create'): Promise<OpenFile> {
  const file = await files.open(path, mode);
  if (!file) throw new Error('The folder of the session is gone.');
  return file;
}

async function copyBytes(from: OpenFile, to: OpenFile, size: number): Promise<void> {
  const chunk = Buffer.allocUnsafe(Math.min(chunkSize, size));
  for (let position = 0; position < size; ) {
    const read = await from.read(chunk.subarray(0, Math.min(chunk.byteLength, size - position)), position);
    if (read === 0) throw new Error('The file of the session became shorter.');
    await to.write(chunk.subarray(0, read));
    position += read;
  }
}

function lockLost(name: string): CompactionError {
  return new CompactionError('store-locked', `Expected the lock of ${name}, but another process has taken it.`);
}

function inDoubt(name: string, cause: unknown): CompactionError {
  const message = `Writing to ${name} failed late: the events may be stored, or not. Load the session again.`;
  return new CompactionError('store-in-doubt', message, { cause });
}
