import { isCompactionError } from '../../errors.ts';
import { randomConversation, waitingConversation } from '../conversation.ts';
import { type Check, expectThat, expectValid, freeze, isSame, preview } from './check.ts';

export const itemChecks: readonly Check[] = [
  {
    name: 'the kit makes requests that its provider takes',
    random: true,
    holds(kit, choose) {
      expectValid(kit, 'A random conversation', kit.request(waitingConversation(kit, choose)));
    },
  },
  {
    name: 'what holds no conversation is refused with a typed error, or read as one without items',
    random: false,
    holds({ adapter }) {
      let items: unknown;
      try {
        items = Reflect.apply(adapter.items, adapter, [{}]);
      } catch (error) {
        items = error;
      }
      const isRefused = isCompactionError(items) && items.code === 'invalid-request';
      expectThat(isRefused || Array.isArray(items), () => `Expected \`invalid-request\` or items, got ${preview(items)}.`);
    },
  },
  {
    name: 'the items of a conversation are the very same objects, in order',
    random: true,
    holds(kit, choose) {
      const conversation = randomConversation(kit, choose, { open: choose(2) === 1 });
      const items = kit.adapter.items(freeze(kit.request(conversation)));
      const tail = items.slice(items.length - conversation.length);
      expectThat(
        tail.length === conversation.length && tail.every((item, index) => item === conversation[index]),
        'Expected `items` to end with the conversation, the very objects that `kit.request` was given.',
      );
    },
  },
  {
    name: 'a request read and rebuilt without a cut is the same request',
    random: true,
    holds(kit, choose) {
      const { adapter } = kit;
      const request = freeze(kit.request(randomConversation(kit, choose, { open: choose(2) === 1 })));
      const items = adapter.items(request);
      const rebuilt = adapter.withItems(request, items);
      expectThat(isSame(rebuilt, request), 'Expected `withItems` with the same items to change nothing.');
      // Parameters that the adapter has never heard of are the caller's.
      const unheard = freeze({ ...request, x_unheard_of: { kept: true } });
      for (const copy of [adapter.withItems(unheard, items), adapter.withSystem(unheard, 'Be quick.')])
        expectThat(
          Reflect.get(Object(copy), 'x_unheard_of') === unheard.x_unheard_of,
          'Expected a parameter that is not known to be kept as it is.',
        );
      const again = adapter.items(rebuilt);
      expectThat(
        again.length === items.length && again.every((item, index) => item === items[index]),
        'Expected `withItems` to keep the very same items.',
      );
    },
  },
  {
    name: 'what is whole needs no repair',
    random: true,
    holds(kit, choose) {
      const { adapter } = kit;
      const items = freeze(randomConversation(kit, choose, { open: choose(2) === 1 }));
      for (const item of items)
        expectThat(
          adapter.repairItem(item) === item,
          () => `Expected \`repairItem\` to give a whole item back: ${preview(item)}`,
        );
    },
  },
  {
    name: 'a system text can be replaced, and the conversation stays',
    random: true,
    holds(kit, choose) {
      const { adapter } = kit;
      const conversation = waitingConversation(kit, choose);
      const request = freeze(kit.request(conversation));
      const changed = adapter.withSystem(request, 'Be quick instead.');
      const items = adapter.items(changed);
      expectThat(
        conversation.every((item, index) => item === items[items.length - conversation.length + index]),
        'Expected `withSystem` to keep the conversation.',
      );
      const leading = items.slice(0, items.length - conversation.length).flatMap((item) => adapter.readItem(item));
      const said = JSON.stringify([adapter.context(changed).system, leading]);
      expectThat(said.includes('Be quick instead.') && !said.includes('Be exact.'), 'Expected `withSystem` to replace the text.');
      expectValid(kit, 'A request with another system text', changed);
    },
  },
];
