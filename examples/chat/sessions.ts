import { readdir } from 'node:fs/promises';

const extension = '.jsonl';

/** Names of the sessions in a folder, in order. */
export async function listSessions(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []); // no folder, no sessions
  return names
    .filter((name) => name.endsWith(extension))
    .map((name) => name.slice(0, -extension.length))
    .sort();
}
