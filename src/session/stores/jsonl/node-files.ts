import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import process from 'node:process';
import { readCode } from '../read-code.ts';
import type { FileFacts, FileLayer, OpenFile } from './files.ts';

const { O_RDONLY, O_NONBLOCK, O_RDWR, O_APPEND, O_CREAT, O_EXCL } = constants;
// A pipe would be waited for. Windows has no such flag.
const flags = {
  read: O_RDONLY | (O_NONBLOCK ?? 0),
  append: O_RDWR | O_APPEND | O_CREAT,
  create: O_RDWR | O_APPEND | O_CREAT | O_EXCL,
};

/** The file system of the machine. */
export const nodeFiles: FileLayer = {
  makeFolder: async (path) => {
    const first = await mkdir(path, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    // Each new folder is an entry of the one above it.
    for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
  },
  open: async (path, mode) => {
    const handle = await unlessMissing(open(path, flags[mode], 0o600));
    if (!handle) return undefined;
    const isFile = await handle.stat().then(
      (facts) => facts.isFile(),
      () => false,
    );
    if (isFile) return openFile(handle);
    await handle.close();
    throw new Error(`Expected a file at ${path}.`);
  },
  stat: async (path) => {
    const facts = await unlessMissing(stat(path, { bigint: true }));
    return facts && describe(facts);
  },
  rename,
  remove: (path) => rm(path, { force: true }),
  syncFolder,
};

function openFile(handle: FileHandle): OpenFile {
  return {
    facts: async () => describe(await handle.stat({ bigint: true })),
    read: async (into, position) => (await handle.read(into, 0, into.byteLength, position)).bytesRead,
    // Goes on where the system took only a part.
    write: (bytes) => handle.writeFile(bytes),
    truncate: (size) => handle.truncate(size),
    sync: () => handle.datasync(),
    close: () => handle.close(),
  };
}

async function syncFolder(path: string): Promise<void> {
  // Windows opens no folders, and keeps their entries by itself.
  if (process.platform === 'win32') return;
  const handle = await open(path, O_RDONLY);
  await handle.sync().finally(() => handle.close());
}

function describe({ size, dev, ino }: BigIntStats): FileFacts {
  return { size: Number(size), identity: `${dev}:${ino}` };
}

async function unlessMissing<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  return promise.catch((error: unknown) => {
    if (readCode(error) === 'ENOENT') return undefined;
    throw error;
  });
}
