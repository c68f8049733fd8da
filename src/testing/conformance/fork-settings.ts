import type { ForkSetting, ProviderKit } from '../provider-kit.ts';
import { type Check, expectThat, expectValid, freeze } from './check.ts';
import { userItems } from './scene.ts';

export const forkSettingChecks: readonly Check[] = [
  {
    name: 'a summary request does not stop early, answer twice, or stay on a server, and its prefix is as it was',
    random: false,
    holds(kit) {
      for (const setting of kit.neutralized ?? []) {
        const changed = forkWithout(kit, setting);
        expectThat(
          changed.length === 0,
          () => `Expected nothing of ${setting.name} that the cache sees, got ${changed.join(', ')}.`,
        );
      }
    },
  },
  {
    name: 'what would force the form of a summary goes, and is reported',
    random: false,
    holds(kit) {
      for (const setting of kit.relaxed ?? []) {
        const changed = forkWithout(kit, setting);
        expectThat(changed.length > 0, `Expected it to be reported that ${setting.name} is gone.`);
      }
    },
  },
];

/** What is reported of a summary request that was to go without a setting of its parent. */
function forkWithout<Request, Item, Reply>(
  kit: ProviderKit<Request, Item, Reply>,
  { name, set, isSet }: ForkSetting<Request>,
): readonly string[] {
  const request = freeze(set(kit.request(userItems(kit, 'Say something.'))));
  expectThat(isSet(request), `Expected the kit to set ${name}.`);
  const { request: fork, changed } = kit.adapter.forkForSummary(request, 'Summarize.', { maxTokens: 2000 });
  expectThat(!isSet(fork), `Expected a summary request without ${name}.`);
  expectValid(kit, `The summary request without ${name}`, fork);
  return changed;
}
