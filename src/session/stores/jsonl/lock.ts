import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { stat, utimes } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CompactionError } from '../../../errors.ts';
import { readCode } from '../read-code.ts';

/** Milliseconds after which a lock whose owner does not renew it may be taken. One more second may pass: it is dated ahead. */
const stale = 6000;
const renewal = 1000;
const longestWait = 10_000;

export interface HeldLock {
  /** False once another process has taken it: its owner had stopped for longer than a lock lasts. */
  isHeld(): boolean;
  release(): Promise<void>;
}

/** Makes this process the only writer of a file. */
export type LockFile = (path: string) => Promise<HeldLock>;

/**
 * Waits for a lock whose owner was killed, at most ten seconds; one that is renewed meanwhile has a live owner.
 *
 * @throws CompactionError `store-locked`
 */
export const lockFile: LockFile = async (path) => {
  const start = performance.now();
  let first: number | undefined;
  for (;;) {
    const isLate = performance.now() - start > longestWait;
    const renewed = await readDate(path);
    first ??= renewed;
    if (renewed !== first && renewed !== undefined) throw locked(path);
    let lock: HeldLock | undefined;
    if (renewed === undefined) lock = await tryLock(path);
    // Nobody has renewed it for all this time, so its date is wrong: it comes from another clock, or from before the clock was set.
    else if (isLate || isStale(renewed)) lock = await takeOver(path, renewed);
    if (lock) return lock;
    if (isLate) throw locked(path);
    await delay(200);
  }
};

/** One process at a time: of two that both saw the old lock the second would remove the new one of the first. */
async function takeOver(path: string, seen: number): Promise<HeldLock | undefined> {
  const turn = await tryLock(`${path}.turn`);
  try {
    if (!turn || (await readDate(path)) !== seen) return undefined;
    if (!isStale(seen)) await utimes(nameLock(path), 0, 0);
    return await tryLock(path);
  } finally {
    await turn?.release();
  }
}

/** Undefined where somebody has the lock. */
async function tryLock(path: string): Promise<HeldLock | undefined> {
  // On demand: the module listens to signals as soon as it is loaded.
  const loaded = await import('proper-lockfile');
  // CommonJS: `import` has it as its default, `require` has nothing else.
  const { lock } = loaded.default ?? loaded;
  let isHeld = true;
  let isTaken = false;
  let dated = 0;
  const options = {
    lockfilePath: nameLock(path),
    realpath: false,
    stale,
    update: renewal,
    onCompromised: () => {
      isHeld = false;
    },
    fs: {
      mkdir: fs.mkdir,
      // Its timer may still be asking after the release, and an answer would throw where nobody catches it.
      stat: (folder: string, done: (error: NodeJS.ErrnoException | null, facts: fs.Stats) => void) => {
        fs.stat(folder, (error, facts) => {
          if (isHeld) done(error, facts);
        });
      },
      rmdir: (folder: string, done: fs.NoParamCallback) => {
        if (isTaken) done(null);
        else fs.rmdir(folder, done);
      },
      rmdirSync: fs.rmdirSync,
      utimes: (folder: string, accessed: Date, modified: Date, done: fs.NoParamCallback) => {
        dated = Number(modified);
        fs.utimes(folder, accessed, modified, done);
      },
    },
  };
  try {
    // The module keeps its locks by this name: of two with the same one the first would be lost to it.
    const release = await lock(`${path} ${randomUUID()}`, options);
    return {
      isHeld: () => isHeld,
      release: async () => {
        // Another process may have taken it, and this one not know yet. That one's is younger by all the time that a lock lasts.
        const renewed = isHeld ? await readDate(path) : undefined;
        isTaken = renewed === undefined || renewed - dated > stale / 2;
        if (!isHeld) return;
        isHeld = false;
        await release();
      },
    };
  } catch (error) {
    if (readCode(error) === 'ELOCKED') return undefined;
    throw error;
  }
}

function isStale(renewed: number): boolean {
  return Date.now() - renewed > stale;
}

function nameLock(path: string): string {
  return `${path}.lock`;
}

/** When a lock was renewed. Undefined where there is none. */
async function readDate(path: string): Promise<number | undefined> {
  return stat(nameLock(path)).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}

function locked(path: string): CompactionError {
  return new CompactionError(
    'store-locked',
    `Expected ${basename(path)} to have no other writer, but another process or store has its lock.`,
  );
}
