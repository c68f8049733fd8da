// Writes to a session when it is told to, and says how it went: `write 5` on a line of its input.
import { createInterface } from 'node:readline';
import { isCompactionError } from '../../src/errors.ts';
import { jsonlStore } from '../../src/session/stores/jsonl-store.ts';

const [directory = '', writer = ''] = process.argv.slice(2);
const store = jsonlStore({ directory });
let next = 1;

async function writeMany(count: number): Promise<string> {
  let stored = 0;
  try {
    for (; stored < count; stored++, next++)
      await store.append('session', { seq: next, kind: 'note', payload: { writer, stored } });
    return `stored ${stored}`;
  } catch (error) {
    return `stored ${stored} ${isCompactionError(error) ? error.code : String(error)}`;
  }
}

for await (const line of createInterface(process.stdin)) {
  const [word, count] = line.split(' ');
  if (word === 'load') next = ((await store.load('session')).events.at(-1)?.seq ?? 0) + 1;
  if (word === 'write') console.log(await writeMany(Number(count)));
  if (word === 'close') await store.close();
}
