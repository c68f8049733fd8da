import { type Message, textOf } from '../../message.ts';
import { messagesOf, randomConversation } from '../conversation.ts';
import { outlineConversation } from '../outline.ts';
import { type Check, expectThat, freeze, isSame, preview } from './check.ts';

const roles = ['system', 'user', 'assistant', 'tool'];
const partTypes = ['text', 'reasoning', 'toolCall', 'toolResult', 'media', 'native'];

export const readingChecks: readonly Check[] = [
  {
    name: 'each item is read to neutral messages, the same ones each time',
    random: true,
    holds(kit, choose) {
      const { adapter } = kit;
      for (const item of freeze(randomConversation(kit, choose))) {
        const messages = adapter.readItem(item);
        for (const { role, parts } of messages)
          expectThat(
            roles.includes(role) && parts.every(({ type }) => partTypes.includes(type)),
            () => `Expected messages of known roles and parts, got ${preview(messages)}.`,
          );
        expectThat(isSame(messages, adapter.readItem(item)), 'Expected `readItem` to read the same twice.');
      }
    },
  },
  {
    name: 'each result is read with the id of a call before it',
    random: true,
    holds(kit, choose) {
      const { adapter } = kit;
      const open = new Set<string>();
      const items = randomConversation(kit, choose);
      const request = kit.request(items);
      for (const part of adapter
        .items(request)
        .flatMap((item) => adapter.readItem(item))
        .flatMap(({ parts }) => parts)) {
        if (part.type === 'toolCall') open.add(part.id);
        if (part.type === 'toolResult')
          expectThat(open.delete(part.callId), () => `Expected a result of an open call, got one of ${part.callId}.`);
      }
      expectThat(open.size === 0, () => `Expected each call to be answered, these are not: ${[...open].join(', ')}.`);
    },
  },
  {
    name: 'what is written is read again: texts, calls and results',
    random: true,
    holds(kit, choose) {
      const { adapter } = kit;
      const written = outlineConversation(choose, false).flatMap(messagesOf);
      const items = written.flatMap((message) => adapter.writeMessage(message));
      // Through a request: where ids are optional, what belongs together is told by the whole.
      const read = adapter.items(kit.request(items, { system: '' })).flatMap((item) => adapter.readItem(item));
      for (const role of ['user', 'assistant'] as const)
        expectThat(
          sayings(written, role) === sayings(read, role),
          () => `Expected the texts of the ${role}: ${sayings(written, role)}, got ${sayings(read, role)}`,
        );
      const wanted = actions(written);
      const found = actions(read);
      expectThat(
        wanted.length === found.length && wanted.every((action, index) => saysAll(found[index], action)),
        () => `Expected these calls and results: ${preview(wanted)}, got ${preview(found)}`,
      );
    },
  },
  {
    name: 'a part that is not known is carried as it is',
    random: false,
    holds(kit) {
      const { adapter } = kit;
      const value = { type: 'x_unheard_of', payload: { deep: [1, 2, 3] } };
      const items = adapter.writeMessage({
        role: 'user',
        parts: [
          { type: 'text', text: 'See.' },
          { type: 'native', value },
        ],
      });
      const request = kit.request(items);
      expectThat(holds(adapter.items(request), value), 'Expected a native part to go out as the very same value.');
      expectThat(
        items.flatMap((item) => adapter.readItem(item)).some(({ parts }) => parts.some((part) => part.type === 'native')),
        'Expected an unknown part to be read as a native part.',
      );
    },
  },
];

/** The texts of a role, however they are parted. */
function sayings(messages: readonly Message[], role: Message['role']): string {
  const texts = messages.filter((message) => message.role === role).map(textOf);
  return texts.join('').replace(/\s/g, '');
}

/** What was called with what, or what came of which call. */
type Action = { call: number; name: string; input: unknown } | { call: number | undefined; text: string };

/** Calls and results in order. Ids may be rewritten, but must still belong together. */
function actions(messages: readonly Message[]): Action[] {
  const numbers = new Map<string, number>();
  return messages
    .flatMap(({ parts }) => parts)
    .flatMap((part): Action[] => {
      if (part.type === 'toolCall') {
        numbers.set(part.id, numbers.size);
        return [{ call: numbers.size - 1, name: part.name, input: part.input }];
      }
      if (part.type !== 'toolResult') return [];
      const text = part.content.map((entry) => (entry.type === 'text' ? entry.text : '')).join('\n');
      return [{ call: numbers.get(part.callId), text }];
    });
}

/** A result may say more than was written: that it failed, or that it was empty, where the shape has no other place for it. */
function saysAll(found: Action | undefined, wanted: Action): boolean {
  if (!found || !('text' in wanted) || !('text' in found)) return isSame(found, wanted);
  return found.call === wanted.call && found.text.includes(wanted.text.trim());
}

function holds(value: unknown, wanted: unknown): boolean {
  if (value === wanted) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some((entry) => holds(entry, wanted));
}
