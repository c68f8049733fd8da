import { Buffer } from 'node:buffer';
import { dirname } from 'node:path';
import type { FileLayer, OpenFile } from '../../src/session/stores/jsonl/files.ts';
import type { Choose } from '../../src/testing/choose.ts';

interface Content {
  number: number;
  now: Buffer;
  /** What the disk is sure to have. */
  safe: Buffer;
}

type Names = Map<string, Content | 'folder'>;

/** What becomes of names of one folder, all at once. */
type Change = [path: string, content: Content | 'folder' | undefined][];

export interface ForgetfulFiles extends FileLayer {
  /**
   * The file system after a power cut. Bytes that were not synced are gone, there in part, or NULs; names that were made, renamed or
   * removed since their folder was synced are as they were, or as they became up to some moment.
   */
  cutPower(choose: Choose): ForgetfulFiles;
}

/** A file system in memory that knows what a disk is sure to have. */
export function forgetfulFiles(disk: Names = new Map([['/', 'folder']])): ForgetfulFiles {
  const names: Names = new Map(disk);
  const safeNames: Names = new Map(disk);
  /** What the disk may not have yet, in order. */
  let pending: Change[] = [];
  let count = disk.size;
  const change = (made: Change): void => {
    pending.push(made);
    applyTo(names, made);
  };
  const syncFolder = async (path: string): Promise<void> => {
    const isThere = ([first]: Change): boolean => first !== undefined && dirname(first[0]) === path;
    for (const made of pending.filter(isThere)) applyTo(safeNames, made);
    pending = pending.filter((made) => !isThere(made));
  };
  const makeFolder = async (path: string): Promise<void> => {
    if (names.has(path)) return;
    await makeFolder(dirname(path));
    change([[path, 'folder']]);
    await syncFolder(dirname(path));
  };

  return {
    makeFolder,
    syncFolder,
    open: async (path, mode) => {
      const there = names.get(path);
      if (there === 'folder') throw failure('EISDIR');
      if (mode === 'read') return there && openContent(there);
      if (mode === 'create' && there) throw failure('EEXIST');
      if (there) return openContent(there);
      const made = { number: count++, now: Buffer.alloc(0), safe: Buffer.alloc(0) };
      change([[path, made]]);
      return openContent(made);
    },
    stat: async (path) => {
      const there = names.get(path);
      return there && there !== 'folder' ? factsOf(there) : undefined;
    },
    rename: async (from, to) => {
      const there = names.get(from);
      if (!there) throw failure('ENOENT');
      change([
        [to, there],
        [from, undefined],
      ]);
    },
    remove: async (path) => {
      if (names.has(path)) change([[path, undefined]]);
    },
    cutPower: (choose) => {
      const left: Names = new Map(safeNames);
      for (const made of pending.slice(0, choose(pending.length + 1))) applyTo(left, made);
      for (const [name, there] of left)
        if (there !== 'folder') {
          const now = leftOf(there, choose);
          left.set(name, { number: there.number, now, safe: now });
        }
      return forgetfulFiles(left);
    },
  };
}

function openContent(content: Content): OpenFile {
  return {
    facts: async () => factsOf(content),
    read: async (into, position) => content.now.copy(into, 0, position, position + into.byteLength),
    write: async (bytes) => {
      content.now = Buffer.concat([content.now, bytes]);
    },
    truncate: async (size) => {
      content.now = content.now.subarray(0, size);
    },
    sync: async () => {
      content.safe = content.now;
    },
    close: async () => {},
  };
}

function leftOf({ now, safe }: Content, choose: Choose): Buffer {
  let same = 0;
  while (same < now.byteLength && now[same] === safe[same]) same++;
  // What was changed in the middle is there or not.
  if (same < safe.byteLength) return choose(2) === 0 ? safe : now;
  const written = same + choose(now.byteLength - same + 1);
  const grown = Buffer.concat([now.subarray(0, written), Buffer.alloc(now.byteLength - written)]);
  return choose(2) === 0 ? grown.subarray(0, written) : grown;
}

function applyTo(names: Names, made: Change): void {
  for (const [name, content] of made)
    if (content) names.set(name, content);
    else names.delete(name);
}

function factsOf({ now, number }: Content): { size: number; identity: string } {
  return { size: now.byteLength, identity: String(number) };
}

export function failure(code: string): Error {
  return Object.assign(new Error(`${code}: made up`), { code });
}
