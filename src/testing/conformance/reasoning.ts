import type { Message, Part } from '../../message.ts';
import { randomConversation } from '../conversation.ts';
import { type Check, expectThat, expectValid, freeze, isSame, preview } from './check.ts';
import { userItems } from './scene.ts';

export const reasoningChecks: readonly Check[] = [
  {
    name: 'an item without its reasoning says everything else, and is the very same where it had none',
    random: true,
    holds(kit, choose) {
      const { adapter } = kit;
      for (const item of freeze(randomConversation(kit, choose, { open: choose(2) === 1 }))) {
        const bare = adapter.withoutReasoning(item);
        const before = adapter.readItem(item);
        const after = bare === undefined ? [] : adapter.readItem(bare);
        expectThat(
          !after.some(({ parts }) => parts.some(({ type }) => type === 'reasoning')),
          () => `Expected no reasoning, got ${preview(bare)}.`,
        );
        expectThat(
          isSame(saidIn(after), saidIn(before)),
          () => `Expected texts, calls, results and media as they were in ${preview(item)}, got ${preview(bare)}.`,
        );
        if (bare === undefined) continue;
        expectThat(
          bare === item || !isSame(after, before),
          () => `Expected the very same item where there is no reasoning: ${preview(item)}`,
        );
        expectThat(adapter.withoutReasoning(bare) === bare, () => `Expected nothing more to take away: ${preview(bare)}`);
      }
    },
  },
  {
    name: 'a conversation without reasoning up to any place is one that the provider takes',
    random: true,
    holds(kit, choose) {
      const { adapter } = kit;
      const conversation = freeze([...randomConversation(kit, choose), ...userItems(kit, 'And now?')]);
      const request = freeze(kit.request(conversation));
      const items = adapter.items(request);
      const place = choose(items.length) + 1;
      const bare = items.slice(0, place).flatMap((item) => {
        const kept = adapter.withoutReasoning(item);
        return kept === undefined ? [] : [kept];
      });
      expectValid(kit, 'The conversation without reasoning', adapter.withItems(request, [...bare, ...items.slice(place)]));
    },
  },
];

/** What is neither reasoning nor opaque. */
function saidIn(messages: readonly Message[]): Part[] {
  return messages.flatMap(({ parts }) => parts.filter(({ type }) => type !== 'reasoning' && type !== 'native'));
}
