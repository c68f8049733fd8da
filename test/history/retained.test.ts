import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createItemReader } from '../../src/history/reading.ts';
import { repairItems } from '../../src/history/repair.ts';
import { importanceOf } from '../../src/history/retained/importance.ts';
import { type RetainedSize, selectRetained } from '../../src/history/retained.ts';
import { hasUserContent } from '../../src/history/turns.ts';
import { type Message, textOf } from '../../src/message.ts';
import { chooseFrom } from '../../src/testing/choose.ts';
import { randomConversation } from '../../src/testing/conversation.ts';
import type { ProviderKit } from '../../src/testing/provider-kit.ts';
import { providerKits } from '../../src/testing/provider-kits.ts';
import { countTokens } from '../support/scripted-model.ts';
import {
  anyConversation,
  calls,
  cutOptions,
  findBrokenPairs,
  idsOf,
  item,
  itemsOf,
  results,
  type Sized,
  says,
  system,
  tens,
  user,
} from '../support/sized-items.ts';

const options = { ...cutOptions, isUserInput: hasUserContent };
const select = (items: readonly Sized[], size: Partial<RetainedSize>): Sized[] =>
  selectRetained(items, { tokens: 10_000, count: 100, ...size }, options);
const textsOf = (items: readonly Sized[]): string[] => items.flatMap(({ messages }) => messages.map(textOf));
const tokensOf = (items: readonly Sized[]): number => items.reduce((sum, { tokens }) => sum + tokens, 0);

describe('importanceOf', () => {
  it.each([
    ['The build FAILED.', 3],
    ['There is an error in it.', 3],
    ['A failure.', 3],
    ['Kernel panic!', 3],
    ['It is broken again.', 3],
    ['A regression since Monday.', 3],
    ['Please debug it.', 3],
    ['No, not there.', 2.5],
    ['That is wrong.', 2.5],
    ['Actually, wait.', 2.5],
    ['Fix the typo.', 2.5],
    ['Use tabs instead.', 2.5],
    ['It should be blue.', 2.5],
    ["Please don't.", 2.5],
    ['No error, but it is wrong.', 3],
    ['Go on.', 1],
    ['Not at all', 1],
  ])('V53: the user says %j: %f', (value, importance) => {
    expect(importanceOf(user(value))).toBe(importance);
  });

  it('V53: what others say', () => {
    expect(importanceOf(results('a'))).toBe(2);
    expect(importanceOf(calls('a'))).toBe(0.5);
    expect(importanceOf(says('An error!'))).toBe(0.1);
    expect(importanceOf(system('An error!'))).toBe(0);
  });
});

describe('selectRetained', () => {
  it('V52: nothing where there is no room or no place', () => {
    const items = itemsOf(user('1'), says('x'));
    for (const size of [{ tokens: 0 }, { count: 0 }, { tokens: -1 }, { count: Number.NaN }, { tokens: Number.NaN }])
      expect(select(items, size)).toEqual([]);
    expect(select([], {})).toEqual([]);
  });

  it('V52: what the user said, the very same items in their order; no answers, no system text, nothing blank', () => {
    const items = itemsOf(system('s'), user('1'), says('x'), user(' '), user('2'), says('y'));
    const kept = select(items, {});
    expect(kept).toHaveLength(2);
    expect(kept[0]).toBe(items[1]);
    expect(kept[1]).toBe(items[4]);
  });

  it('V52, V53: what matters most comes first, and of what matters as much the newest', () => {
    const items = tens(user('It failed.'), user('Go on.'), user('No, wrong.'), user('Go on.'), user('Debug it.'));
    expect(textsOf(select(items, { count: 1 }))).toEqual(['Debug it.']);
    expect(textsOf(select(items, { count: 2 }))).toEqual(['It failed.', 'Debug it.']);
    expect(textsOf(select(items, { tokens: 30 }))).toEqual(['It failed.', 'No, wrong.', 'Debug it.']);
    expect(select(items, { count: 4 })).toEqual([items[0], items[2], items[3], items[4]]);
  });

  it('V53: a new message counts more than an old one, by its place in the conversation', () => {
    // 1.0 + 3/4 is more than 1.0 + 0/4, and 2.5 + 1/4 is more than both.
    const items = tens(user('old'), user('instead'), says('x'), user('new'));
    expect(textsOf(select(items, { count: 2 }))).toEqual(['instead', 'new']);
  });

  it('V55: the message that does not fit is really kept shortened, and really takes its room', () => {
    const items = [
      item(user('It failed.'), 10),
      item(user('word '.repeat(2000))),
      ...tens(user('ok'), calls('a'), results('a'), user('No, wrong.')),
    ];
    const kept = select(items, { tokens: 120, count: 10 });
    expect(textsOf(kept)[0]).toBe('It failed.');
    expect(tokensOf(kept)).toBeLessThanOrEqual(120);
    // "ok" is newer, fits and comes first; the long one is cut to what is left.
    expect(textsOf(kept)[1]).toMatch(/^(word )+/);
    expect(kept[1]?.tokens).toBe(cutOptions.countItems(kept[1]?.items ?? []));
    expect(kept[1]?.tokens).toBeGreaterThan(60);
    expect(textsOf(kept).slice(2)).toEqual(['ok', 'No, wrong.']);
    expect(idsOf(kept, 'toolCall')).toEqual([]);
  });

  it('V52: the first that does not fit ends the words of the user, also where nothing of it is left', () => {
    const items = [item(user('small and old'), 2), item(user('An error: '.repeat(100)))];
    expect(select(items, { tokens: 4 })).toEqual([]);
  });

  it('V52: calls with their results take what is left, and those that do not fit are skipped', () => {
    const items = [
      ...tens(user('1'), calls('a'), results('a')),
      ...[item(calls('b'), 10), item(results('b'), 500)],
      ...tens(calls('c'), results('c'), says('x')),
    ];
    expect(idsOf(select(items, { tokens: 50 }), 'toolResult')).toEqual(['a', 'c']);
    expect(idsOf(select(items, { tokens: 49 }), 'toolResult')).toEqual(['c']);
    expect(select(items, { tokens: 30 })).toEqual([items[0], items[5], items[6]]);
    expect(select(items, { tokens: 29 })).toEqual([items[0]]);
  });

  it('V52: results without a text matter less than those with one', () => {
    const blank: Message = { role: 'tool', parts: [{ type: 'toolResult', callId: 'b', content: [] }] };
    expect(idsOf(select(tens(calls('a'), results('a'), calls('b'), blank), { count: 2 }), 'toolCall')).toEqual(['a']);
  });

  it('V54, V55: a call brings all of its results, and all of them count', () => {
    const items = tens(user('1'), calls('a', 'b'), results('a'), results('b'), says('x'));
    expect(select(items, { count: 4 })).toEqual(items.slice(0, 4));
    expect(select(items, { count: 3 })).toEqual([items[0]]);
    expect(select(items, { tokens: 39 })).toEqual([items[0]]);
  });

  it('V55: pairs are found by id and occurrence, not by place', () => {
    const items = tens(calls('a', 'b'), results('b'), calls('c'), results('c'), results('a'), calls('a'), results('a'));
    expect(select(items, { count: 2 })).toEqual([items[5], items[6]]);
    expect(select(items, { count: 5 })).toEqual([items[0], items[1], items[4], items[5], items[6]]);
    expect(select(items, {})).toEqual(items);
  });

  it('V54: neither a result without its call is kept nor a call without its result', () => {
    expect(select(tens(results('a'), says('x'), results('b')), {})).toEqual([]);
    expect(select(tens(calls('a', 'b'), results('a')), {})).toEqual([]);
    expect(select(tens(calls('a'), results('a'), results('a')), {})).toHaveLength(2);
    expect(select([...tens(calls('a')), item(results('a', 'b'), 10)], {})).toEqual([]);
  });

  it('a call whose result stands beside it in one item is kept like any other', () => {
    const items = [item({ role: 'assistant', parts: [...calls('a').parts, ...results('a').parts] }, 10)];
    expect(select(items, {})).toEqual(items);
  });

  it('what the user says beside results is kept without them', () => {
    const items = [...tens(user('1'), calls('a')), item([results('a'), user('No, not that file.')], 500), ...tens(says('x'))];
    const kept = select(items, { tokens: 100 });
    expect(kept.map(({ messages }) => messages)).toEqual([[user('1')], [user('No, not that file.')]]);
    expect(kept[1]?.tokens).toBeLessThan(100);
    // Where the results have room, too, all of it is the very same items, and the words count once.
    expect(select(items, { tokens: 520 })).toEqual(items.slice(0, 3));
    expect(select(items, { tokens: 519 })).toHaveLength(2);
  });

  it('B050: what the host says in the name of the user is not kept', () => {
    const isUserInput = (message: Message): boolean => !textOf(message).includes('heartbeat');
    const items = tens(user('1'), user('heartbeat: error'), says('x'));
    expect(selectRetained(items, { tokens: 100, count: 10 }, { ...options, isUserInput })).toEqual([items[0]]);
  });

  it('the property: never over the budget or the count, in order, pairs whole, always the same', () => {
    let shortened = 0;
    let paired = 0;
    fc.assert(
      fc.property(anyConversation, fc.nat(800), fc.nat(20), (items, tokens, count) => {
        const kept = select(items, { tokens, count });
        expect(tokensOf(kept)).toBeLessThanOrEqual(tokens);
        expect(tokensOf(kept)).toBe(cutOptions.countItems(kept.flatMap((one) => one.items)));
        expect(kept.flatMap((one) => one.items).length).toBeLessThanOrEqual(count);
        expect(findBrokenPairs(kept)).toEqual([]);
        if (idsOf(kept, 'toolCall').length > 0) paired++;

        const copies = kept.filter((one) => !items.includes(one));
        for (const copy of copies) expect(copy.messages.every(hasUserContent)).toBe(true);
        // All that is no copy stands in its place; copies are words of the user, of which one at most is shortened.
        const places = kept.flatMap((one) => (items.includes(one) ? [items.indexOf(one)] : []));
        expect(places).toEqual([...places].sort((one, other) => one - other));
        const said = new Set(items.flatMap(({ messages }) => messages.map((message) => JSON.stringify(message))));
        const cut = copies.filter(({ messages }) => !messages.every((message) => said.has(JSON.stringify(message))));
        expect(cut.length).toBeLessThanOrEqual(1);
        shortened += cut.length;
        expect(select(items, { tokens, count })).toEqual(kept);
      }),
      { numRuns: 1000 },
    );
    expect(shortened).toBeGreaterThan(50);
    expect(paired).toBeGreaterThan(100);
  });

  it('with room for everything, all that the user said and all whole pairs are kept', () => {
    fc.assert(
      fc.property(anyConversation, (items) => {
        const kept = select(items, { tokens: Number.POSITIVE_INFINITY, count: Number.POSITIVE_INFINITY });
        const wordsOf = (list: readonly Sized[]): string[] =>
          list
            .flatMap(({ messages }) => messages)
            .filter(hasUserContent)
            .map(textOf);
        expect(wordsOf(kept)).toEqual(wordsOf(items));
        const plain = items.every(({ messages }) => messages.length === 1);
        // V19: calls of one message under one id cannot be told apart.
        const distinct = items.every((one) => new Set(idsOf([one], 'toolCall')).size === idsOf([one], 'toolCall').length);
        if (plain && distinct && findBrokenPairs(items).length === 0)
          expect(idsOf(kept, 'toolCall')).toEqual(idsOf(items, 'toolCall'));
      }),
      { numRuns: 300 },
    );
  });

  it('a hundred thousand items are sorted, not compared with each other', () => {
    const items = Array.from({ length: 25_000 }, (_, turn) =>
      tens(user('Go on.'), calls(`c${turn}`), results(`c${turn}`), says('x')),
    ).flat();
    const kept = select(items, { tokens: 1_000_000, count: 40_000 });
    expect(kept).toHaveLength(40_000);
    expect(findBrokenPairs(kept)).toEqual([]);
    // One unit of two hundred thousand results.
    const ids = Array.from({ length: 200_000 }, (_, index) => `c${index}`);
    const parallel: Message = { role: 'assistant', parts: ids.map((id) => ({ type: 'toolCall', id, name: 'read', input: {} })) };
    const wide = [item(parallel, 10)].concat(ids.map((id) => item(results(id), 10)));
    expect(select(wide, { tokens: 1e9, count: 1e9 })).toHaveLength(200_001);
  });

  for (const each of Object.values(providerKits))
    it(`${each.name}: the property: what is kept behind a summary fits, and nothing in it must be repaired`, () => {
      // Each kit is sound in itself; a list of them has no common type.
      const { adapter, ...kit } = each as ProviderKit<object, object, unknown>;
      const read = createItemReader(adapter);
      const countItems = (items: readonly object[]): number =>
        items.reduce((total: number, entry) => total + countTokens(JSON.stringify(adapter.readItem(entry))), 0);
      const deps = {
        write: (message: Message) => adapter.writeMessage(message),
        countItems,
        countTokens,
        isUserInput: hasUserContent,
      };
      const summary = adapter.writeMessage(user('The summary of all before.'));
      let paired = 0;
      fc.assert(
        fc.property(fc.nat(1_000_000), fc.nat(4000), fc.nat(20), fc.boolean(), (seed, tokens, count, open) => {
          const native = randomConversation({ adapter, ...kit }, chooseFrom(seed), { open });
          const items = native.map((entry) => ({
            items: [entry],
            messages: adapter.readItem(entry),
            tokens: countItems([entry]),
          }));
          const kept = selectRetained(items, { tokens, count }, deps).flatMap((one) => one.items);
          expect(kept.length).toBeLessThanOrEqual(count);
          expect(countItems(kept)).toBeLessThanOrEqual(tokens);
          if (JSON.stringify(kept.map((entry) => adapter.readItem(entry))).includes('"toolCall"')) paired++;
          const { repairs } = repairItems([...summary, ...kept].map(read), { adapter, read }, { closeOpen: true });
          expect(repairs).toEqual([]);
          const rebuilt = adapter.withItems(kit.request(native), [...summary, ...kept]);
          expect(kit.validate(rebuilt).filter(({ rule }) => !/^last-/.test(rule))).toEqual([]);
        }),
        { numRuns: 200 },
      );
      expect(paired).toBeGreaterThan(20);
    });
});
