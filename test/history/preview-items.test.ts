import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutItem, previewItems } from '../../src/history/preview-items.ts';
import type { Message } from '../../src/message.ts';
import { buildReplacement } from '../../src/prompt/replacement.ts';
import { calls, cutOptions, findBrokenPairs, item, itemsOf, longResult, says, text, user } from '../support/sized-items.ts';

describe('cutItem', () => {
  it('gives an item that fits back as it is', () => {
    const one = item(user('Hello.'));
    expect(cutItem(one, 1000, cutOptions)).toBe(one);
  });

  it('V26: cuts only the messages it is told to', () => {
    const one = item([longResult('a', 9000), user('word '.repeat(2000))]);
    const cut = cutItem(one, 300, cutOptions, ({ role }) => role === 'tool');
    expect(cut.messages[0]).not.toBe(one.messages[0]);
    expect(cut.messages[1]).toBe(one.messages[1]);
    expect(cutItem(one, 300, cutOptions, () => false)).toBe(one);
  });

  it('of an earlier replacement it cuts what that holds', () => {
    const replacement = buildReplacement({ summary: 'All was well. '.repeat(500), lastUserMessage: [text('The question.')] });
    const { messages } = cutItem(item(replacement), 200, cutOptions);
    expect(JSON.stringify(messages)).toContain('All was well.');
    expect(JSON.stringify(messages)).not.toContain('compacted_context');
  });

  it('the property: a message is never over its budget, and half of it is used, however the shape is counted', () => {
    const words: fc.Arbitrary<Message> = fc.constantFrom('word ', '你好', '📦', 'x').map((unit) => user(unit.repeat(9000)));
    fc.assert(
      fc.property(words, fc.integer({ min: 80, max: 2000 }), fc.integer({ min: 10, max: 25 }), (message, budget, tenths) => {
        const options = {
          ...cutOptions,
          countItems: (items: readonly (readonly Message[])[]) => Math.ceil((cutOptions.countItems(items) * tenths) / 10),
        };
        const cut = cutItem(item(message, 1_000_000), budget, options);
        expect(cut.tokens).toBeLessThanOrEqual(budget);
        expect(cut.tokens).toBeGreaterThan(budget / 2);
      }),
    );
  });
});

describe('previewItems', () => {
  it('V29: everything has the same share, and what is shorter stays as it is', () => {
    const items = itemsOf(user('First.'), says('a'.repeat(9000)), user('Second.'), says('b'.repeat(9000)));
    const previews = previewItems(items, 800, cutOptions);
    expect(previews).toHaveLength(4);
    expect(previews[0]).toBe(items[0]);
    expect(previews[2]).toBe(items[2]);
    expect(previews.map(({ tokens }) => tokens <= 200)).toEqual([true, true, true, true]);
  });

  it('V29: of too many messages the words of the user and the newest steps of the newest group', () => {
    const steps = Array.from({ length: 200 }, (_, step) => [calls(`c${step}`), longResult(`c${step}`, 900)]).flat();
    const previews = previewItems(itemsOf(user('First.'), says('x'), user('Second.'), ...steps), 1000, cutOptions);
    expect(previews[0]?.messages).toEqual([user('Second.')]);
    expect(previews.length).toBeGreaterThan(3);
    expect(findBrokenPairs(previews)).toEqual([]);
  });
});
