import { expect, it } from 'vitest';
import { runCrashes } from '../../support/crash-run.ts';

it('two hundred processes that are killed at every step of their writing lose nothing and double nothing', {
  timeout: 300_000,
}, async () => {
  const { steps, kills, acknowledged, ...verdict } = await runCrashes({ atSteps: 170, atAnyTime: 30 });
  expect(kills).toBe(200);
  expect(acknowledged).toBeGreaterThan(200);
  const writing = ['write', 'sync', 'rename', 'syncFolder', 'open create'].flatMap((name) => [`before ${name}`, `after ${name}`]);
  expect([...steps.keys()]).toEqual(expect.arrayContaining([...writing, 'half write', 'before lock', 'after lock', 'any time']));
  expect(verdict).toMatchObject({ lost: 0, doubled: 0, broken: 0 });
});
