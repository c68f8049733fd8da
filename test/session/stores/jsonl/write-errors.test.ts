import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isCompactionError } from '../../../../src/errors.ts';
import type { StoredEvent } from '../../../../src/session/store.ts';
import { createStore } from '../../../../src/session/stores/jsonl/create-store.ts';
import { judge, makeWrite } from '../../../support/crash-events.ts';
import { failure, forgetfulFiles } from '../../../support/forgetful-files.ts';
import { freeLock } from '../../../support/memory-lock.ts';
import { stepFiles } from '../../../support/step-files.ts';

/** 1: an append. More: a batch of so many. */
const sizes = [1, 3, 1, 1, 2, 1];

/** Writes all sizes while steps fail; a write that failed is not tried again. What is loaded in the end, and what was answered. */
async function writeAll(
  fails: (step: number, name: string) => string | undefined,
): Promise<{ answers: string[]; steps: number }> {
  let steps = 0;
  const disk = forgetfulFiles();
  const files = stepFiles(disk, (name) => {
    const code = fails(steps++, name);
    if (code !== undefined) throw failure(code);
  });
  const store = createStore({ directory: '/sessions', sync: 'always', files, lockFile: freeLock });
  const answers: string[] = [];
  const acknowledged: StoredEvent[] = [];
  let doubt = 0;
  for (const [write, size] of sizes.entries()) {
    const before = (await store.load('a')).events;
    const events = makeWrite(before.length + 1, 1, write, size);
    const answer = await (size === 1 ? store.append('a', events[0]!) : store.appendBatch('a', events)).then(
      () => 'stored',
      (error: unknown) => (isCompactionError(error) ? error.code : `not typed: ${String(error)}`),
    );
    answers.push(answer);
    const { events: after } = await store.load('a');
    if (answer === 'stored') acknowledged.push(...events);
    if (answer === 'store-failed') expect(after).toEqual(before);
    if (answer === 'store-in-doubt') doubt += after.length - before.length;
    expect([before.length, before.length + size]).toContain(after.length);
    expect(judge(after, acknowledged)).toEqual({ lost: 0, doubled: 0, broken: 0 });
  }
  const fresh = createStore({ directory: '/sessions', sync: 'always', files: disk, lockFile: freeLock });
  const { events } = await fresh.load('a');
  expect(events).toHaveLength(acknowledged.length + doubt);
  await fresh.append('a', makeWrite(events.length + 1, 2, 0, 1)[0]!);
  expect((await fresh.load('a')).events).toHaveLength(events.length + 1);
  return { answers, steps };
}

it('without errors everything is stored', async () => {
  const { answers, steps } = await writeAll(() => undefined);
  expect(answers).toEqual(sizes.map(() => 'stored'));
  expect(steps).toBeGreaterThan(50);
});

it.each(['ENOSPC', 'EIO'])('one %s anywhere leaves the old state, and the next write works', async (code) => {
  const { steps } = await writeAll(() => undefined);
  for (let at = 0; at < steps; at++) {
    const { answers } = await writeAll((step) => (step === at ? code : undefined));
    const failed = answers.filter((answer) => answer !== 'stored');
    expect(failed.length, `step ${at}: ${answers}`).toBeLessThanOrEqual(1);
    for (const answer of failed) expect(['store-failed', 'store-in-doubt']).toContain(answer);
  }
});

it.each(['write', 'sync', 'rename', 'syncFolder', 'truncate', 'remove', 'open create', 'open append', 'makeFolder'])(
  'where every %s fails, nothing is half there',
  async (broken) => {
    for (const place of ['before', 'half', 'after']) {
      const { answers } = await writeAll((_step, name) => (name === `${place} ${broken}` ? 'ENOSPC' : undefined));
      for (const answer of answers) expect(['stored', 'store-failed', 'store-in-doubt']).toContain(answer);
    }
  },
);

it('from any step on everything fails: no event that was stored is lost, no batch is half there', async () => {
  const { steps } = await writeAll(() => undefined);
  for (let at = 0; at < steps; at++) {
    const { answers } = await writeAll((step) => (step >= at ? 'EIO' : undefined));
    expect(answers.at(-1)).not.toBe('stored');
  }
});

it('errors in any pattern', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(8), { maxLength: 120 }), async (pattern) => {
      await writeAll((step) => (pattern[step] === 1 ? 'EIO' : undefined));
    }),
    { numRuns: 300 },
  );
});

it('what was not stored is taken back for good', async () => {
  const steps: string[] = [];
  let isFull = false;
  const files = stepFiles(forgetfulFiles(), (name) => {
    steps.push(name);
    if (isFull && name === 'half write') throw failure('ENOSPC');
  });
  const store = createStore({ directory: '/s', sync: 'always', files, lockFile: freeLock });
  await store.append('a', makeWrite(1, 1, 0, 1)[0]!); // so that closing the file makes nothing last any more
  steps.length = 0;
  isFull = true;
  await expect(store.append('a', makeWrite(2, 1, 1, 1)[0]!)).rejects.toMatchObject({ code: 'store-failed' });
  expect(steps.indexOf('after sync')).toBeGreaterThan(steps.indexOf('after truncate'));
});

it('K57: a batch that failed leaves nothing beside the file', async () => {
  const disk = forgetfulFiles();
  const files = stepFiles(disk, (name) => {
    if (name === 'before rename') throw failure('EIO');
  });
  const store = createStore({ directory: '/s', sync: 'always', files, lockFile: freeLock });
  await expect(store.appendBatch('a', makeWrite(1, 1, 0, 2))).rejects.toMatchObject({ code: 'store-failed' });
  expect(await disk.stat('/s/a.jsonl')).toMatchObject({ size: 0 });
  expect(await disk.stat('/s/a.jsonl.tmp')).toBeUndefined();
});

it('an error names its code and not the path', async () => {
  const files = stepFiles(forgetfulFiles(), (name) => {
    if (name !== 'before write') return;
    // As Node words it.
    throw Object.assign(new Error("ENOSPC: no space left on device, write '/data/private/a.jsonl'"), { code: 'ENOSPC' });
  });
  const store = createStore({ directory: '/data/private', sync: 'always', files, lockFile: freeLock });
  await expect(store.append('a', makeWrite(1, 1, 0, 1)[0]!)).rejects.toMatchObject({
    code: 'store-failed',
    message: expect.stringMatching(/^(?!.*private).*"a".*ENOSPC/),
    cause: { code: 'ENOSPC' },
  });
});
