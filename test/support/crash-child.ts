// Writes to a session until it is killed: at a step that its parent chose, or whenever. Everything it says is said at once.
import { writeSync } from 'node:fs';
import { createStore } from '../../src/session/stores/jsonl/create-store.ts';
import { lockFile } from '../../src/session/stores/jsonl/lock.ts';
import { nodeFiles } from '../../src/session/stores/jsonl/node-files.ts';
import { makeWrite } from './crash-events.ts';
import { stepFiles } from './step-files.ts';

const [directory = '', run = '', stopAt = '', writes = ''] = process.argv.slice(2);
const say = (text: string): void => {
  writeSync(1, `${text}\n`);
};

let steps = 0;
const onStep = (step: string): void => {
  if (steps++ !== Number(stopAt)) return;
  say(`at ${step}`);
  // As if the machine stood still: nothing goes on until the kill.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};

const store = createStore({
  directory,
  sync: 'always',
  files: stepFiles(nodeFiles, onStep),
  lockFile: async (path) => {
    onStep('before lock');
    const lock = await lockFile(path);
    onStep('after lock');
    return lock;
  },
});

const { events } = await store.load('session');
let next = (events.at(-1)?.seq ?? 0) + 1;
say(`loaded ${events.length}`);
for (let write = 0; write < Number(writes); write++) {
  const count = write % 2 === 0 ? 1 : 2 + ((Number(run) + write) % 3);
  const more = makeWrite(next, Number(run), write, count);
  say(`try ${next} ${write} ${count}`);
  const [only] = more;
  await (count === 1 && only ? store.append('session', only) : store.appendBatch('session', more));
  say(`stored ${next} ${write} ${count}`);
  next += count;
}
await store.close();
say('done');
