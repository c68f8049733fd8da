import { isError } from '../any-realm.ts';
import { CompactionError } from '../errors.ts';
import { type Choose, chooseFrom } from './choose.ts';
import { breakChecks } from './conformance/breaks.ts';
import type { Check } from './conformance/check.ts';
import { cutChecks } from './conformance/cuts.ts';
import { effortChecks } from './conformance/effort.ts';
import { errorChecks } from './conformance/errors.ts';
import { forkChecks } from './conformance/fork.ts';
import { forkSettingChecks } from './conformance/fork-settings.ts';
import { itemChecks } from './conformance/items.ts';
import { readingChecks } from './conformance/reading.ts';
import { reasoningChecks } from './conformance/reasoning.ts';
import { replyChecks } from './conformance/replies.ts';
import { transactionChecks } from './conformance/transaction.ts';
import type { ProviderKit } from './provider-kit.ts';

export interface ConformanceOptions {
  /** How many random conversations each case tries. Default 200. */
  runs?: number | undefined;
  /** Where the random choices begin. Default 1: every run tries the same. */
  seed?: number | undefined;
  /** `test` of vitest, jest or `node:test`: each case is registered with it. */
  test?: ((name: string, run: () => Promise<void>) => unknown) | undefined;
}

export interface ConformanceCase {
  /** A plain sentence. */
  name: string;
  /** False: there is nothing random about it, one run is enough. */
  random: boolean;
  /** Tries the case on its random conversations. Rejects with what was wrong, and with the seed that shows it. */
  run: () => Promise<void>;
  /** Tries it once, with the choices of a property testing library. */
  check: (choose: Choose) => Promise<void>;
}

const checks: readonly Check[] = [
  ...itemChecks,
  ...readingChecks,
  ...reasoningChecks,
  ...forkChecks,
  ...forkSettingChecks,
  ...effortChecks,
  ...replyChecks,
  ...breakChecks,
  ...errorChecks,
  ...transactionChecks,
  ...cutChecks,
];

/**
 * Every promise of an adapter, as cases to run: by themselves, or registered with the `test` of a test runner.
 *
 * @throws CompactionError `invalid-options` for what is no kit.
 * @example
 * import { test } from 'node:test';
 * adapterConformance(myKit, { test });
 */
export function adapterConformance<Request, Item, Reply>(
  kit: ProviderKit<Request, Item, Reply>,
  { runs = 200, seed = 1, test }: ConformanceOptions = {},
): ConformanceCase[] {
  if (typeof kit?.adapter !== 'object' || typeof kit.validate !== 'function')
    throw new CompactionError('invalid-options', 'Expected a kit with an `adapter`, `request`, `validate`, `reply` and `error`.');
  const cases = checks.map(({ name, random, holds }): ConformanceCase => {
    const check = async (choose: Choose) => holds(kit, choose);
    return { name, random, check, run: () => runAll(`${kit.name}: ${name}`, check, random ? runs : 1, seed) };
  });
  for (const { name, run } of cases) test?.(`${kit.name}: ${name}`, run);
  return cases;
}

async function runAll(name: string, check: (choose: Choose) => Promise<void>, runs: number, first: number): Promise<void> {
  for (let seed = first; seed < first + runs; seed++)
    await check(chooseFrom(seed)).catch((cause: unknown) => {
      const message = isError(cause) ? cause.message : String(cause);
      throw new Error(`${name} (seed ${seed}): ${message}`, { cause });
    });
}
