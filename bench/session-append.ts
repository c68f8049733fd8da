// What an append costs in a long session, relative to a short one, and what loading costs an event: run with `npm run bench`. Ratios within
// one run; no absolute times.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonlStore } from 'context-compactor/session';

const text = 'What was said and done in a step of the work. '.repeat(10);
const rounds = 40;
const burst = 25;

const directory = await mkdtemp(join(tmpdir(), 'session-append-'));
// Without the disk's own time, which would hide every other cost.
const store = jsonlStore({ directory, sync: 'batch' });
const sizes = new Map<string, number>();

async function append(id: string, count: number): Promise<void> {
  const size = sizes.get(id) ?? 0;
  for (let seq = size + 1; seq <= size + count; seq++) await store.append(id, { seq, kind: 'note', payload: { text, seq } });
  sizes.set(id, size + count);
}

async function grow(id: string, events: number): Promise<void> {
  const batch = Array.from({ length: events }, (_, index) => ({
    seq: index + 1,
    kind: 'note',
    payload: { text, seq: index + 1 },
  }));
  await store.appendBatch(id, batch);
  sizes.set(id, events);
}

/** A quarter is faster: whatever else the machine does only makes things slower. */
const quartile = (values: number[]): number => values.sort((left, right) => left - right)[values.length >> 2] ?? Number.NaN;

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

try {
  await grow('short', 100);
  await grow('long', 100_000);
  for (const id of ['short', 'long']) await append(id, burst);
  const costs = { short: [] as number[], long: [] as number[] };
  // In turns, so that whatever else the machine does hits both.
  for (let round = 0; round < rounds; round++)
    for (const id of ['short', 'long'] as const) costs[id].push(await timeOf(() => append(id, burst)));
  const ratio = quartile(costs.long) / quartile(costs.short);
  console.log(`append at 100,000 events: ${ratio.toFixed(2)}x the cost at 100 events (at most 1.5)`);

  await grow('tenth', 10_000);
  const loads = { tenth: [] as number[], long: [] as number[] };
  for (let round = 0; round < 5; round++)
    for (const id of ['tenth', 'long'] as const) loads[id].push((await timeOf(() => store.load(id))) / (sizes.get(id) ?? 1));
  console.log(
    `load of 100,000 events: ${(quartile(loads.long) / quartile(loads.tenth)).toFixed(2)}x the cost of an event in 10,000 events`,
  );
  if (process.env.VERBOSE) console.log(costs, loads);
} finally {
  await store.close();
  await rm(directory, { recursive: true, force: true });
}
