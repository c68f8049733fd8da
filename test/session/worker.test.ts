import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { jsonlStore } from '../../src/session.ts';
import { openaiChatKit } from '../../src/testing/kits/openai-chat.ts';
import { lifecycleOf } from '../support/harness.ts';
import { openRun, plain } from '../support/session-run.ts';

const script = fileURLToPath(new URL('../support/session-worker.ts', import.meta.url));
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'worker-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('a worker is killed in the middle of a turn, and another process goes on from just there', async () => {
  const directory = join(folder, 'sessions');
  const { end, output } = await new Promise<{ end: unknown; output: string }>((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', script, directory], (error, output) =>
      resolve({ end: error?.signal ?? error, output }),
    );
  });
  expect(end).toBe('SIGKILL');
  const before = JSON.parse(output) as { request: unknown; snapshot: unknown };

  const store = jsonlStore({ directory });
  const run = await openRun(openaiChatKit, { store });
  expect(JSON.parse(JSON.stringify(run.loop.request))).toEqual(before.request);
  expect(plain(run.loop.snapshot())).toEqual(before.snapshot);
  expect(run.session.events.map(({ kind }) => kind)).toContain('compaction_applied');
  await run.step({ reply: { text: 'It says nothing.' } });
  expect(lifecycleOf(run.events)).toEqual(['started', 'applied']);
  expect(run.sent.flatMap((request) => openaiChatKit.validate(request))).toEqual([]);
  expect(run.sent).toHaveLength(1);
  await store.close();
});
