import { describe, expect, it } from 'vitest';
import { createCompactor } from '../src/compactor.ts';
import { CompactionError, isCompactionError } from '../src/errors.ts';
import type { CompactionEvent } from '../src/events.ts';
import type { Message, TextPart } from '../src/message.ts';
import type { ProviderKit } from '../src/testing/provider-kit.ts';
import { providerKits } from '../src/testing/provider-kits.ts';
import { scriptedModel } from '../src/testing/scripted-model.ts';

const text = (value: string): TextPart => ({ type: 'text', text: value });
const user = (value: string): Message => ({ role: 'user', parts: [text(value)] });
const says = (value: string): Message => ({ role: 'assistant', parts: [text(value)] });
const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  parts: ids.map((id) => ({ type: 'toolCall', id, name: 'read', input: { path: 'a.ts' } })),
});
const results = (...ids: string[]): Message => ({
  role: 'tool',
  parts: ids.map((callId, index) => ({ type: 'toolResult', callId, name: 'read', content: [text(`result ${index}`)] })),
});
const long = [user('The log says: nothing happened. '.repeat(60)), says('Noted.')];

/** What a host may hand over, and whether each provider takes it as it is. */
const histories: [what: string, messages: Message[]][] = [
  ['a call without a result', [...long, user('Read.'), calls('a'), user('Stop. Else.'), says('Ok.')]],
  ['one of two calls without a result', [...long, user('Read.'), calls('a', 'b'), results('b'), says('Ok.')]],
  ['a result without a call', [...long, user('Read.'), results('lost'), says('Ok.')]],
  ['a result far from its call', [...long, user('Read.'), calls('a'), says('Wait.'), user('Well?'), results('a'), says('Ok.')]],
  ['a result twice', [...long, user('Read.'), calls('a'), results('a'), results('a'), says('Ok.')]],
  [
    'one id in two turns',
    [...long, user('Read.'), calls('a'), results('a'), says('Ok.'), user('Again.'), calls('a'), results('a'), says('Ok.')],
  ],
  ['one id twice in a message', [...long, user('Read.'), calls('a', 'a'), results('a', 'a'), says('Ok.')]],
  ['calls without ids', [...long, user('Read.'), calls('', ''), results('', ''), says('Ok.')]],
  ['half a character', [...long, user(`Half: ${'📦'.slice(0, 1)}`), says('Ok.')]],
  ['the assistant first', [says('Hello.'), ...long, user('Read.'), says('Ok.')]],
];

for (const each of Object.values(providerKits))
  describe(each.name, () => {
    // Each kit is sound in itself; a list of them has no common type.
    const kit = each as ProviderKit<object, object, unknown>;
    const requestOf = (messages: readonly Message[]) =>
      kit.request(messages.flatMap((message) => kit.adapter.writeMessage(message)));

    it.each(histories)('summarizes %s only as its provider takes it, and tells what was repaired', async (_, messages) => {
      const model = scriptedModel(kit);
      const request = requestOf(messages);
      const { request: compacted, notices } = await createCompactor({ adapter: kit.adapter, send: model.send }).compact(request);
      expect(model.summaries[0]?.violations).toEqual([]);
      expect(kit.validate(compacted)).toEqual([]);
      const isBroken = kit.validate(requestOf([...messages, user('Go on.')])).length > 0;
      expect(notices.map(({ code }) => code).includes('repaired') || !isBroken).toBe(true);
    });

    it.each(histories)('sends %s as it is where nothing is compacted', async (_, messages) => {
      const events: CompactionEvent[] = [];
      const compactor = createCompactor({
        adapter: kit.adapter,
        send: scriptedModel(kit).send,
        onEvent: (event) => void events.push(event),
      });
      const request = requestOf([...messages, user('Go on.')]);
      expect(await compactor.prepare(request)).toBe(request);
      expect(events).toEqual([]);
    });

    it.each<[what: string, item: unknown]>([
      ['null', null],
      ['a text', 'Hello.'],
      ['a number', 7],
    ])('names an item that is %s, and lets it go where nothing is compacted', async (_, item) => {
      const model = scriptedModel(kit);
      const compactor = createCompactor({ adapter: kit.adapter, send: model.send });
      const [field] = ['messages', 'input', 'contents', 'prompt'].filter((name) => name in requestOf(long));
      const items = [...(Reflect.get(requestOf(long), field!) as unknown[]), item];
      const request = { ...requestOf(long), [field!]: items };
      const outcome = await compactor.compact(request).catch((error: unknown) => error);
      if (isCompactionError(outcome)) {
        expect(outcome).toBeInstanceOf(CompactionError);
        expect(outcome.code).toBe('invalid-request');
        expect(outcome.message).toMatch(/\d|item/);
      } else for (const { violations } of model.summaries) expect(violations).toEqual([]);
      expect(await createCompactor({ adapter: kit.adapter, send: model.send }).prepare(request)).toBe(request);
    });
  });
