import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { StoredEvent } from '../../src/session/store.ts';
import { jsonlStore } from '../../src/session/stores/jsonl-store.ts';
import { chooseFrom } from '../../src/testing/choose.ts';
import { bundleScript } from './bundle-script.ts';
import { judge, makeWrite, type Verdict } from './crash-events.ts';

export interface CrashReport extends Verdict {
  kills: number;
  /** How many kills there were at each step. */
  steps: Map<string, number>;
  /** Events that the store said were stored. */
  acknowledged: number;
  /** Events of a write that was cut off, and that are there nevertheless. */
  unanswered: number;
}

/** Writes of one child. Its parent lets it get through none of them, or some. */
const writes = 4;

/**
 * Kills processes that write to a session: at each of their steps in turn, until so many were killed, then some at any time. After each
 * kill the session is read and compared with all that was ever acknowledged, and the next process goes on with it.
 */
export async function runCrashes({ atSteps, atAnyTime }: { atSteps: number; atAnyTime: number }): Promise<CrashReport> {
  const folder = await mkdtemp(join(tmpdir(), 'crash-'));
  const report: CrashReport = { kills: 0, steps: new Map(), acknowledged: 0, unanswered: 0, lost: 0, doubled: 0, broken: 0 };
  try {
    const child = await bundleScript('crash-child', folder);
    const choose = chooseFrom(1);
    for (let session = 0, run = 1; report.kills < atSteps + atAnyTime; session++) {
      const directory = join(folder, `sessions-${session}`);
      const acknowledged: StoredEvent[] = [];
      // A session of a few dozen lives: long enough to be rewritten often, short enough to be compared often.
      for (let stopAt = 0; stopAt < 50 && report.kills < atSteps + atAnyTime; stopAt++, run++) {
        const isTimed = report.kills >= atSteps;
        const life = await live(child, directory, run, isTimed ? { afterMilliseconds: choose(30) } : { stopAt });
        acknowledged.push(...life.acknowledged);
        if (life.step !== undefined) {
          report.kills++;
          report.steps.set(life.step, (report.steps.get(life.step) ?? 0) + 1);
        }
        const { events } = await jsonlStore({ directory }).load('session');
        const verdict = judge(events, acknowledged);
        report.lost += verdict.lost;
        report.doubled += verdict.doubled;
        report.broken += verdict.broken;
        report.acknowledged += life.acknowledged.length;
        report.unanswered += events.length - acknowledged.length;
        // What is there is there for good from now on.
        acknowledged.splice(0, acknowledged.length, ...events);
        await ageLocks(directory);
        if (life.step === undefined && !isTimed) break;
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return report;
}

interface Life {
  acknowledged: StoredEvent[];
  /** Where it was killed. Undefined: it lived to its end. */
  step: string | undefined;
}

type Death = { stopAt: number } | { afterMilliseconds: number };

async function live(child: string, directory: string, run: number, death: Death): Promise<Life> {
  const stopAt = 'stopAt' in death ? death.stopAt : -1;
  const count = 'stopAt' in death ? writes : 1000;
  const killed = spawn(process.execPath, [child, directory, `${run}`, `${stopAt}`, `${count}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const acknowledged: StoredEvent[] = [];
  let step: string | undefined;
  let faults = '';
  killed.stderr.on('data', (text: Buffer) => {
    faults += text.toString();
  });
  const ended = new Promise((resolve) => killed.once('close', resolve));
  for await (const line of createInterface(killed.stdout)) {
    const [word, ...numbers] = line.split(' ');
    const [first = 0, write = 0, size = 0] = numbers.map(Number);
    if (word === 'stored') acknowledged.push(...makeWrite(first, run, write, size));
    if (word === 'at') {
      step = numbers.join(' ');
      killed.kill('SIGKILL');
    }
    if (word === 'loaded' && 'afterMilliseconds' in death) {
      step = 'any time';
      setTimeout(() => killed.kill('SIGKILL'), death.afterMilliseconds);
    }
  }
  await ended;
  if (faults !== '') throw new Error(`A child failed by itself: ${faults}`);
  return { acknowledged, step };
}

/** The locks of the killed look as if they had been left long ago, so that nobody waits for them. */
async function ageLocks(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names) if (name.endsWith('.lock')) await utimes(join(directory, name), 1, 1);
}
