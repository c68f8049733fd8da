import { createCompactor } from '../../compactor.ts';
import { isCompactionError } from '../../errors.ts';
import { type Choose, sometimes } from '../choose.ts';
import { type ConversationOptions, randomConversation } from '../conversation.ts';
import type { ProviderKit } from '../provider-kit.ts';
import { scriptedModel } from '../scripted-model.ts';
import { type Check, expectThat, expectValid, freeze, preview } from './check.ts';
import { smallWindow, userItems } from './scene.ts';

export const cutChecks: readonly Check[] = [
  {
    name: 'wherever a conversation is cut, the provider takes what is left of it',
    random: true,
    async holds(kit, choose) {
      const { rebuilt } = await cutConversation(kit, choose, { broken: sometimes(choose, 2) });
      if (rebuilt) expectValid(kit, 'The request behind a cut', rebuilt);
    },
  },
  {
    name: 'wherever a conversation is cut, reasoning is kept as it is, with what it led to, or goes',
    random: true,
    async holds(kit, choose) {
      const { adapter } = kit;
      const { conversation, rebuilt } = await cutConversation(kit, choose);
      if (!rebuilt) return;
      const kept = adapter.items(rebuilt);
      const partsOf = (item: Parameters<typeof adapter.readItem>[0] | undefined) =>
        item === undefined ? [] : adapter.readItem(item).flatMap(({ parts }) => parts);
      for (const item of kept)
        expectThat(
          !partsOf(item).some(({ type }) => type === 'reasoning') || conversation.includes(item),
          () => `Expected reasoning in the very same item, got ${preview(item)}.`,
        );
      conversation.forEach((item, index) => {
        const types = partsOf(item).map(({ type }) => type);
        // An item of its own, with its seal: it belongs to the item that follows.
        if (!types.includes('reasoning') || types.some((type) => type !== 'reasoning' && type !== 'native')) return;
        const led = conversation[index + 1];
        const place = kept.indexOf(item);
        expectThat(
          place === -1 ? !kept.some((other) => other === led) : kept[place + 1] === led,
          () => `Expected reasoning and what it led to together, or neither, got ${preview(rebuilt)}.`,
        );
      });
    },
  },
];

/** The request behind a compaction of the first items of a conversation; undefined where there was too little of them. */
async function cutConversation<Request, Item, Reply>(
  kit: ProviderKit<Request, Item, Reply>,
  choose: Choose,
  { broken = false }: ConversationOptions = {},
): Promise<{ conversation: readonly Item[]; rebuilt: Request | undefined }> {
  const conversation = freeze([...randomConversation(kit, choose, { broken }), ...userItems(kit, 'And now?')]);
  const model = scriptedModel(kit, { streamed: sometimes(choose, 2) });
  const compactor = createCompactor({ ...smallWindow(kit), when: 'never', send: model.send });
  const covered = conversation.slice(0, 1 + choose(conversation.length - 1));
  try {
    await compactor.compact(freeze(kit.request(covered)), { conversation: 'one' });
  } catch (error) {
    if (isCompactionError(error) && (error.code === 'nothing-to-compact' || error.code === 'not-smaller'))
      return { conversation, rebuilt: undefined };
    throw error;
  }
  return { conversation, rebuilt: await compactor.prepare(freeze(kit.request(conversation)), { conversation: 'one' }) };
}
