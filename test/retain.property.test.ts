import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCompactor } from '../src/compactor.ts';
import type { CompactionEvent } from '../src/events.ts';
import { textOf } from '../src/message.ts';
import type { RetainOptions } from '../src/options.ts';
import { chooseFromList } from '../src/testing/choose.ts';
import { freeze } from '../src/testing/conformance/check.ts';
import { randomConversation } from '../src/testing/conversation.ts';
import type { ProviderKit } from '../src/testing/provider-kit.ts';
import { providerKits } from '../src/testing/provider-kits.ts';
import { scriptedModel } from '../src/testing/scripted-model.ts';

const question = 'What is in the box, after all 📦?';
const countTokens = (text: string): number => Math.ceil(text.length / 4);

const retention = fc.record({
  latestUserMessage: fc.boolean(),
  tail: fc.option(fc.record({ ratio: fc.double({ min: 0.01, max: 1, noNaN: true }), min: fc.constant(0), max: fc.nat(2000) }), {
    nil: undefined,
  }),
  messages: fc.option(fc.record({ tokens: fc.nat(800), count: fc.nat(8) }), { nil: undefined }),
  reasoning: fc.constantFrom('strip' as const, 'keep' as const),
});

describe.each(Object.values(providerKits))('$name', (one) => {
  // Each kit is sound in itself; a list of them has no common type.
  const kit = one as ProviderKit<object, object, unknown>;
  const { adapter } = kit;
  const say = (text: string) => adapter.writeMessage({ role: 'user', parts: [{ type: 'text', text }] });
  const read = (request: object) => adapter.items(request).flatMap((item) => adapter.readItem(item));
  const countOf = (request: object, text: string): number => read(request).map(textOf).join('').split(text).length - 1;

  it('whatever is kept, what is sent is valid, under the threshold, and each word of it is there once', async () => {
    let withTail = 0;
    let withMessages = 0;
    const choices = fc.array(fc.nat(9999), { maxLength: 200, size: 'max' });
    await fc.assert(
      fc.asyncProperty(choices, retention, fc.boolean(), fc.boolean(), async (numbers, retain, open, byHand) => {
        const choose = chooseFromList(numbers);
        const history = freeze([
          ...randomConversation(kit, choose),
          ...say(question),
          ...(open ? workItems(kit, 'call_open', 'x'.repeat(choose(3000))) : []),
        ]);
        const events: CompactionEvent[] = [];
        const model = scriptedModel(kit);
        const compactor = createCompactor({
          adapter,
          contextWindow: 100_000,
          budget: { threshold: 4000, countTokens },
          when: 'never',
          send: model.send,
          retain: retain satisfies RetainOptions,
          onEvent: (event) => void events.push(event),
        });
        // Long enough that there is always something to gain.
        const all = [...say('Begin.'), ...workItems(kit, 'call_long', 'y'.repeat(16_000)), ...history];
        const parent = kit.request(all);
        const rebuilt = byHand ? (await compactor.compact(parent)).request : await automatic(parent);
        const sent = read(rebuilt);
        expect(kit.validate(rebuilt)).toEqual([]);
        expect(model.summaries.flatMap(({ violations }) => violations)).toEqual([]);
        if (retain.latestUserMessage && !byHand) expect(countOf(rebuilt, question)).toBe(1);
        else expect(countOf(rebuilt, question)).toBeLessThan(2);
        if (retain.reasoning === 'strip')
          expect(sent.flatMap(({ parts }) => parts).filter(({ type }) => type === 'reasoning')).toEqual([]);

        async function automatic(request: object): Promise<object> {
          const acting = createCompactor({
            adapter,
            contextWindow: 100_000,
            budget: { threshold: 4000, countTokens },
            send: model.send,
            retain,
            onEvent: (event) => void events.push(event),
          });
          const prepared = await acting.prepare(request);
          const applied = events.find((event) => event.type === 'auto_compaction_applied');
          expect(applied?.tokensAfter).toBeLessThan(4000);
          const next = kit.request([...all, ...workItems(kit, 'call_next', 'z')]);
          const after = await acting.prepare(next);
          expect(kit.validate(after)).toEqual([]);
          expect(countOf(after, question)).toBe(countOf(prepared, question));
          const items = new Set<unknown>(all);
          const keptItems = adapter.items(prepared).filter((item) => items.has(item));
          if (retain.tail && keptItems.length > 0) withTail++;
          if (retain.messages && keptItems.length > 0) withMessages++;
          return prepared;
        }
      }),
      { numRuns: 150 },
    );
    expect(withTail).toBeGreaterThan(5);
    expect(withMessages).toBeGreaterThan(5);
  });
});

/** One round of a tool. */
function workItems(kit: ProviderKit<object, object, unknown>, id: string, output: string): object[] {
  const { adapter } = kit;
  return [
    ...adapter.writeMessage({ role: 'assistant', parts: [{ type: 'toolCall', id, name: 'read', input: { path: 'a.ts' } }] }),
    ...adapter.writeMessage({
      role: 'tool',
      parts: [{ type: 'toolResult', callId: id, name: 'read', content: [{ type: 'text', text: output }] }],
    }),
  ];
}
