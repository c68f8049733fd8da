import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { StoredEvent } from '../../../../src/session/store.ts';
import { createStore } from '../../../../src/session/stores/jsonl/create-store.ts';
import { type Choose, chooseFromList } from '../../../../src/testing/choose.ts';
import { judge, makeWrite } from '../../../support/crash-events.ts';
import { type ForgetfulFiles, forgetfulFiles } from '../../../support/forgetful-files.ts';
import { freeLock } from '../../../support/memory-lock.ts';
import { stepFiles } from '../../../support/step-files.ts';

const choices = fc.array(fc.nat(9999), { minLength: 20, maxLength: 200, size: 'max' });

/** Writes until the power is cut at a step, or between two writes. What must be there then: a batch makes what was before it last, too. */
async function writeUntilCut(
  files: ForgetfulFiles,
  sync: 'always' | 'batch',
  run: number,
  choose: Choose,
): Promise<StoredEvent[]> {
  let stepsLeft = choose(60);
  const never = new Promise<never>(() => {});
  let cut = (): void => {};
  const isCut = new Promise<'cut'>((resolve) => {
    cut = () => resolve('cut');
  });
  const store = createStore({
    directory: '/data/sessions',
    sync,
    files: stepFiles(files, () => {
      if (stepsLeft-- === 0) cut();
      // A machine without power does no more steps.
      if (stepsLeft < 0) throw new Error('no power');
    }),
    lockFile: freeLock,
  });
  const { events } = await store.load('a');
  const safe = [...events];
  const written = [...events];
  for (let write = 0; write < 8; write++) {
    const size = choose(3) === 0 ? 1 + choose(4) : 1;
    const more = makeWrite(written.length + 1, run, write, size);
    const stored = (size === 1 ? store.append('a', more[0]!) : store.appendBatch('a', more)).catch(() => never);
    if ((await Promise.race([stored, isCut])) === 'cut') break;
    written.push(...more);
    if (sync === 'always' || size > 1) safe.splice(0, safe.length, ...written);
  }
  return safe;
}

it.each(['always', 'batch'] as const)('with sync %s a power cut costs nothing that was promised', async (sync) => {
  let cuts = 0;
  await fc.assert(
    fc.asyncProperty(choices, async (numbers) => {
      const choose = chooseFromList(numbers);
      let files = forgetfulFiles();
      for (let run = 1; run <= 4; run++) {
        const safe = await writeUntilCut(files, sync, run, choose);
        files = files.cutPower(choose);
        cuts++;
        const store = createStore({ directory: '/data/sessions', sync, files, lockFile: freeLock });
        const { events } = await store.load('a');
        expect(judge(events, safe)).toEqual({ lost: 0, doubled: 0, broken: 0 });
      }
    }),
    { numRuns: 250 },
  );
  expect(cuts).toBeGreaterThan(500);
});
