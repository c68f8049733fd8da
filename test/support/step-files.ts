import type { FileLayer, OpenFile } from '../../src/session/stores/jsonl/files.ts';

/** Hears of every step before and after it is taken, and in the middle of a write. What it throws is the step's error. */
export type OnStep = (step: string) => void;

/** A file layer that can be stopped, or fail, anywhere. */
export function stepFiles(files: FileLayer, onStep: OnStep): FileLayer {
  const around = async <Result>(name: string, run: () => Promise<Result>): Promise<Result> => {
    onStep(`before ${name}`);
    const result = await run();
    onStep(`after ${name}`);
    return result;
  };
  const openFile = (file: OpenFile): OpenFile => ({
    facts: () => file.facts(),
    read: (into, position) => file.read(into, position),
    write: (bytes) =>
      around('write', async () => {
        const half = bytes.byteLength >> 1;
        await file.write(bytes.subarray(0, half));
        onStep('half write');
        await file.write(bytes.subarray(half));
      }),
    truncate: (size) => around('truncate', () => file.truncate(size)),
    sync: () => around('sync', () => file.sync()),
    close: () => file.close(),
  });
  return {
    makeFolder: (path) => around('makeFolder', () => files.makeFolder(path)),
    open: async (path, mode) => {
      if (mode === 'read') return files.open(path, mode);
      const file = await around(`open ${mode}`, () => files.open(path, mode));
      return file && openFile(file);
    },
    stat: (path) => files.stat(path),
    rename: (from, to) => around('rename', () => files.rename(from, to)),
    remove: (path) => around('remove', () => files.remove(path)),
    syncFolder: (path) => around('syncFolder', () => files.syncFolder(path)),
  };
}
