import type { ForkOptions } from '../../adapters/adapter.ts';
import { type Check, expectThat, expectValid, freeze, isSame } from './check.ts';
import { userItems } from './scene.ts';

const verbosities = ['low', 'medium', 'high'];

export const effortChecks: readonly Check[] = [
  {
    name: 'a summary can be asked for with every effort that the adapter names, and what that changes is reported',
    random: false,
    holds(kit) {
      const { adapter } = kit;
      const request = freeze(kit.request(userItems(kit, 'Say something.')));
      const fork = (parent: typeof request, options: Partial<ForkOptions>) =>
        adapter.forkForSummary(parent, 'Summarize.', { maxTokens: 2000, ...options });
      const plain = fork(request, {}).request;
      const asked = [
        ...(adapter.efforts ?? []).map((effort) => ({ effort })),
        ...verbosities.map((verbosity) => ({ verbosity })),
      ];
      const heard = new Set<string>();
      for (const options of asked) {
        const what = JSON.stringify(options);
        const { request: other, changed } = fork(request, options);
        expectValid(kit, `The summary request with ${what}`, other);
        expectThat(isSame(other, plain) === (changed.length === 0), `Expected what ${what} changes to be reported, and no more.`);
        if ('effort' in options) heard.add(JSON.stringify(other));
        // The parent may ask for the same.
        const again = fork(freeze(other), options).changed;
        expectThat(again.length === 0, () => `Expected nothing to change where the parent has ${what}, got ${again.join(', ')}.`);
      }
      expectThat(heard.size === (adapter.efforts ?? []).length, 'Expected each effort to be asked for.');
    },
  },
];
