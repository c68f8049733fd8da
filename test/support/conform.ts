import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseFromList } from '../../src/testing/choose.ts';
import { adapterConformance } from '../../src/testing/conformance.ts';
import type { ProviderKit } from '../../src/testing/provider-kit.ts';

// For each promise, a third of them whole compactions. `npm run torture` tries ten times as many.
const isTorture = Reflect.get(import.meta, 'env')?.MODE === 'torture';
const runs = isTorture ? 5000 : 500;
const fewestConversations = isTorture ? 100_000 : 10_000;

/** Each list of numbers is a conversation: what fails is shrunk to a short one. */
const choices = fc.array(fc.nat(9999), { maxLength: 150, size: 'max' });

/** Holds a provider's adapter to every promise of the public kit, with conversations that shrink. */
export function conform<Request, Item, Reply>(kit: ProviderKit<Request, Item, Reply>): void {
  describe(kit.name, () => {
    const cases = adapterConformance(kit);
    it('is held to its promises over enough random conversations', () => {
      expect(cases.filter(({ random }) => random).length * runs).toBeGreaterThanOrEqual(fewestConversations);
    });

    for (const { name, random, check } of cases)
      it(name, { timeout: isTorture ? 3_600_000 : 300_000 }, async () => {
        const property = fc.asyncProperty(choices, (numbers) => check(chooseFromList(numbers)));
        await fc.assert(property, { numRuns: random ? runs : 1 });
      });
  });
}
