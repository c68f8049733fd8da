import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundItems } from '../../src/summarize/bound.ts';
import { chooseFrom } from '../../src/testing/choose.ts';
import { waitingConversation } from '../../src/testing/conversation.ts';
import type { ProviderKit } from '../../src/testing/provider-kit.ts';
import { providerKits } from '../../src/testing/provider-kits.ts';
import { countTokens } from '../support/scripted-model.ts';

const kit = providerKits['openai-chat'];
type Item = ReturnType<typeof kit.adapter.items>[number];

const user = (content: string): Item => ({ role: 'user', content });
const says = (content: string): Item => ({ role: 'assistant', content });
const work = (id: string, size: number): Item[] => [
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'read', arguments: '{}' } }],
  } as Item,
  { role: 'tool', tool_call_id: id, content: 'r'.repeat(size) } as Item,
];

function bound<Request, Item, Reply>(
  { adapter }: ProviderKit<Request, Item, Reply>,
  request: Request,
  limit: number,
  isStanding: (item: Item) => boolean = (item) => adapter.readItem(item).every(({ role }) => role === 'system'),
) {
  const countItems = (items: readonly Item[]): number =>
    items.reduce((sum, item) => sum + countTokens(JSON.stringify(adapter.readItem(item))), 0);
  return { ...boundItems({ adapter, request, countTokens, countItems, isStanding }, limit), countItems };
}

describe('boundItems', () => {
  const items = [
    user('first'),
    ...work('a', 2000),
    says('x'),
    user('second'),
    ...work('b', 2000),
    user('third'),
    ...work('c', 400),
  ];

  it('V28: what fits stays as it is', () => {
    const request = kit.request(items);
    const bounded = bound(kit, request, 100_000);
    expect(bounded.items).toEqual(kit.adapter.items(request));
    bounded.items.forEach((item, index) => void expect(item).toBe(kit.adapter.items(request)[index]));
    expect(bounded.omitted).toEqual({ items: 0, tokens: 0 });
  });

  it('V29: keeps the newest turns that fit, in a row, as the very same objects; system text stays', () => {
    const request = kit.request(items);
    const { items: kept, omitted, tokens } = bound(kit, request, 1000);
    expect(kept).toHaveLength(1 + 8);
    expect(kept[0]).toBe(kit.adapter.items(request)[0]);
    // Of the turn before, what the user said and its newest step.
    const whole = [items[0], items[3], ...items.slice(4)];
    kept.slice(1).forEach((item, index) => void expect(item).toBe(whole[index]));
    expect(omitted.items).toBe(2);
    expect(omitted.tokens).toBeGreaterThan(500);
    expect(tokens).toBeLessThanOrEqual(1000);
  });

  it('leaves no long turn out whole for a message that came after it', () => {
    const long = [user('Do it all.'), ...Array.from({ length: 60 }, (_, index) => work(`c${index}`, 400)).flat()];
    const request = kit.request([...long, user('n'.repeat(4000))]);
    const { items: kept, omitted } = bound(kit, request, 6000);
    expect(kept[1]).toBe(long[0]);
    expect(kept.at(-1)).toEqual(user('n'.repeat(4000)));
    expect(kept.slice(2, -1)).toEqual(long.slice(-(kept.length - 3)));
    expect(kept.length).toBeGreaterThan(60);
    expect(omitted.items).toBe(long.length - (kept.length - 2));
  });

  it('V26: one dump does not drive out all the others: results are cut first', () => {
    const request = kit.request([user('first'), ...work('a', 40), says('x'), user('second'), ...work('dump', 400_000)]);
    const { items: kept, omitted } = bound(kit, request, 6000);
    expect(kept).toHaveLength(8);
    expect(JSON.stringify(kept.at(-1))).toContain('The rest was left out.');
    expect(kept.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'dump' });
    expect(omitted.items).toBe(0);
    expect(omitted.tokens).toBeGreaterThan(90_000);
  });

  it('V29: previews of everything where not even the newest turn fits', () => {
    const request = kit.request([
      user('task '.repeat(300)),
      ...Array.from({ length: 10 }, (_, index) => work(`c${index}`, 3000)).flat(),
    ]);
    const { items: kept, tokens, omitted } = bound(kit, request, 2000);
    expect(kept).toHaveLength(22);
    expect(tokens).toBeLessThanOrEqual(2000);
    expect(omitted).toMatchObject({ items: 0 });
    expect(kit.validate(kit.adapter.withItems(request, kept))).toEqual([]);
  });

  it('the words of the user and the newest steps where previews of everything would say nothing', () => {
    const request = kit.request([
      user('task '.repeat(3000)),
      ...Array.from({ length: 300 }, (_, index) => work(`c${index}`, 3000)).flat(),
    ]);
    const { items: kept, tokens, omitted } = bound(kit, request, 2000);
    expect(JSON.stringify(kept[1])).toContain('task task');
    expect(JSON.stringify(kept.at(-1))).toContain('c299');
    expect(tokens).toBeLessThanOrEqual(2000);
    expect(omitted.items).toBeGreaterThan(500);
  });

  it('an earlier summary is never left out: it stands for all before it', () => {
    const summary = user('The summary of all before. '.repeat(10));
    const request = kit.request([summary, ...items]);
    const { items: kept } = bound(kit, request, 1100, (item) => item === summary || item.role === 'system');
    expect(kept[1]).toBe(summary);
    expect(kept.slice(2)).toEqual([items[0], items[3], ...items.slice(4)]);
  });

  it('says so where nothing fits', () => {
    expect(() => bound(kit, kit.request(items), 50)).toThrowError(expect.objectContaining({ code: 'summarizer-overflow' }));
  });

  for (const each of Object.values(providerKits))
    it(`${each.name}: the property: any conversation fits any limit, legally, or a typed error says why`, () => {
      // Each kit is sound in itself; a list of them has no common type.
      const { adapter, ...rest } = each as ProviderKit<object, object, unknown>;
      let cut = 0;
      fc.assert(
        fc.property(fc.nat(1_000_000), fc.integer({ min: 100, max: 20_000 }), (seed, limit) => {
          const request = rest.request(waitingConversation({ adapter, ...rest }, chooseFrom(seed)));
          try {
            const { items: kept, tokens, omitted } = bound({ adapter, ...rest }, request, limit);
            expect(tokens).toBeLessThanOrEqual(limit + 500); // halves of pairs that had to be written anew
            if (omitted.tokens > 0) cut++;
            expect(rest.validate(adapter.withItems(request, kept)).filter(({ rule }) => !/^last-/.test(rule))).toEqual([]);
          } catch (error) {
            expect(error).toMatchObject({ code: 'summarizer-overflow' });
          }
        }),
        { numRuns: 300 },
      );
      expect(cut).toBeGreaterThan(20);
    });
});
