import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnthropicMessage } from '../../src/adapters/anthropic.ts';
import type { SizedItem } from '../../src/history/protocol-groups.ts';
import { createItemReader } from '../../src/history/reading.ts';
import { repairItems } from '../../src/history/repair.ts';
import { completePrefix } from '../../src/history/tail/complete-prefix.ts';
import { findReasonedLoop } from '../../src/history/tail/reasoned-loop.ts';
import { previewGroup, selectTail, tailTarget } from '../../src/history/tail.ts';
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
  longResult,
  results,
  type Sized,
  says,
  tens,
  user,
  wholeConversation,
} from '../support/sized-items.ts';
import { readChat, readClaude } from '../support/views.ts';

const sum = (items: readonly SizedItem<unknown>[]): number => items.reduce((total, { tokens }) => total + tokens, 0);
const select = (items: readonly Sized[], target: number) => selectTail(items, target, hasUserContent);

describe('tailTarget', () => {
  it.each([
    [0, 20_000],
    [128_000, 20_000],
    [1_000_000, 20_000],
    [32_768, 5242],
    [4096, 1024],
  ])('V5: a window of %i tokens has a tail of %i', (window, target) => {
    expect(tailTarget(window)).toBe(target);
  });

  it('V5: a ratio is taken as 0 to 1, and the size stays between its bounds', () => {
    expect(tailTarget(8192, { ratio: 7 })).toBe(8192);
    expect(tailTarget(8192, { ratio: -1 })).toBe(1024);
    expect(tailTarget(8192, { ratio: 0, min: 0 })).toBe(0);
    expect(tailTarget(8192, { ratio: 0.5, max: 3000 })).toBe(3000);
    expect(tailTarget(0, { max: 3000 })).toBe(3000);
  });
});

describe('completePrefix', () => {
  it('V19: a whole turn is complete', () => {
    expect(completePrefix(itemsOf(user('1'), calls('a'), results('a')))).toBe(3);
  });

  it('V19: of an interrupted turn only what the user said is', () => {
    expect(completePrefix(itemsOf(user('1'), calls('a')))).toBe(1);
  });

  it('V19: parallel calls are complete with all of their results, in any order', () => {
    expect(completePrefix(itemsOf(user('1'), calls('a', 'b'), results('b'), results('a')))).toBe(4);
  });

  it('V19: parallel calls with a result missing go as a whole', () => {
    expect(completePrefix(itemsOf(user('1'), calls('a', 'b'), results('a')))).toBe(1);
  });

  it('V19: a group that the user does not begin has no complete part', () => {
    expect(completePrefix(itemsOf(says('x'), user('1')))).toBe(0);
    expect(completePrefix(itemsOf(results('a'), says('x')))).toBe(0);
    expect(completePrefix([])).toBe(0);
  });

  it('V19: calls without ids of their own end it', () => {
    expect(completePrefix(itemsOf(user('1'), calls('a'), results('a'), calls('b', 'b'), results('b', 'b')))).toBe(3);
    expect(completePrefix(itemsOf(user('1'), calls(''), results('')))).toBe(1);
  });

  it('V19: a result to which nothing is known belongs to it', () => {
    expect(completePrefix(itemsOf(user('1'), results('a'), says('x')))).toBe(3);
  });

  it('V20: what comes after the cut is not in it', () => {
    expect(completePrefix(itemsOf(user('1'), says('x'), user('2'), calls('a'), says('y'), says('z')))).toBe(3);
  });

  it('an id that is used again belongs to the nearest call', () => {
    expect(completePrefix(itemsOf(user('1'), calls('a'), results('a'), calls('a'), results('a'), says('x')))).toBe(6);
    expect(completePrefix(itemsOf(user('1'), calls('a'), user('2'), calls('a'), results('a')))).toBe(1);
  });

  it('one turn of the model may be several items: they go together', () => {
    expect(completePrefix(itemsOf(user('1'), calls('a'), calls('b'), results('a'), results('b')))).toBe(5);
    expect(completePrefix(itemsOf(user('1'), says('I look.'), calls('a'), calls('b'), results('a')))).toBe(1);
  });

  it('a call whose result is cut off is cut off, too', () => {
    const group = itemsOf(user('1'), calls('x'), results('x'), calls('a', 'b'), results('b'), calls('c'), results('a'));
    expect(completePrefix(group)).toBe(3);
  });

  it('the property: nothing in it waits for a result, and where nothing waits at all it is everything', () => {
    fc.assert(
      fc.property(anyConversation, (items) => {
        const end = completePrefix(items);
        expect(findBrokenPairs(items.slice(0, end)).filter((name) => name.startsWith('call'))).toEqual([]);
      }),
    );
    fc.assert(
      fc.property(wholeConversation, (items) => {
        fc.pre(items[0]?.messages.some(hasUserContent) ?? false);
        expect(completePrefix(items)).toBe(items.length);
      }),
    );
  });
});

describe('selectTail', () => {
  const turns = tens(user('1'), says('x'), user('2'), calls('a'), results('a'), says('y'), user('3'), says('z'));

  it('V21: the newest groups that fit, whole and in a row', () => {
    expect(select(turns, 1000)).toEqual({ start: 0, end: 8, oversized: false });
    expect(select(turns, 80)).toEqual({ start: 0, end: 8, oversized: false });
    expect(select(turns, 79)).toEqual({ start: 2, end: 8, oversized: false });
    expect(select(turns, 60)).toEqual({ start: 2, end: 8, oversized: false });
    expect(select(turns, 59)).toEqual({ start: 6, end: 8, oversized: false });
    expect(select(turns, 20)).toEqual({ start: 6, end: 8, oversized: false });
  });

  it('V21: the newest group is there though it is too large', () => {
    expect(select(turns, 19)).toEqual({ start: 6, end: 8, oversized: true });
    expect(select(turns, 0)).toEqual({ start: 6, end: 8, oversized: true });
  });

  it('V21: no tail where the user said nothing', () => {
    expect(select([], 100)).toBeUndefined();
    expect(select(tens(says('x'), calls('a'), results('a')), 100)).toBeUndefined();
    expect(select(tens(user('  '), says('x')), 100)).toBeUndefined();
  });

  it('V21: does not reach over an older group that is not complete', () => {
    expect(select(tens(user('1'), says('x'), user('2'), calls('a'), user('3'), says('y')), 1000)).toEqual({
      start: 4,
      end: 6,
      oversized: false,
    });
  });

  it('V21: of the newest group only what is complete, and the size of that counts', () => {
    const items = [
      ...tens(user('1'), says('x'), user('2'), calls('a'), results('a')),
      ...tens(calls('b', 'c')),
      item(results('b'), 999),
    ];
    expect(select(items, 50)).toEqual({ start: 0, end: 5, oversized: false });
    expect(select(items, 30)).toEqual({ start: 2, end: 5, oversized: false });
    expect(select(items, 29)).toEqual({ start: 2, end: 5, oversized: true });
  });

  it('V21: skips no group to reach a smaller one', () => {
    const items = [...tens(user('1'), says('x')), item(user('2'), 500), ...tens(says('y'), user('3'), says('z'))];
    expect(select(items, 100)).toEqual({ start: 4, end: 6, oversized: false });
  });

  it('V24: at most 20,000 tokens, begins with the user, has the newest group and not the oldest, and parts none', () => {
    const items = Array.from({ length: 12 }, (_, turn) => [
      item(user(`Question ${turn}.`), 10),
      item(calls(`c${turn}`), 10),
      item(longResult(`c${turn}`, 4 * 2980), 2980),
    ]).flat();
    const tail = select(items, tailTarget(128_000));
    expect(tail).toEqual({ start: 18, end: 36, oversized: false });
    const kept = items.slice(tail?.start, tail?.end);
    expect(sum(kept)).toBeLessThanOrEqual(20_000);
    expect(findBrokenPairs(kept)).toEqual([]);
  });

  it('B010: never begins with a result, however large it may be', () => {
    const items = tens(user('1'), calls('a', 'b', 'c'), results('a'), results('b'), results('c'), says('x'));
    for (let target = 0; target <= 70; target++) expect(select(items, target)?.start).toBe(0);
  });

  it('B009: a result that came late is not kept without its call, nor the call without it', () => {
    const items = tens(user('1'), says('w'), user('2'), calls('a', 'b'), results('b'), user('3'), results('a'), says('x'));
    expect(select(items, 30)).toEqual({ start: 2, end: 8, oversized: true });
    expect(select(items, 60)).toEqual({ start: 2, end: 8, oversized: false });
    expect(select([...items, ...tens(user('4'))], 30)).toEqual({ start: 8, end: 9, oversized: false });
  });

  it('words beside results begin no tail', () => {
    const items = [...tens(user('1'), calls('a')), item([results('a'), user('By the way.')], 10), ...tens(says('x'))];
    expect(select(items, 20)).toEqual({ start: 0, end: 4, oversized: true });
  });

  it('B050: what the host says in the name of the user begins no tail', () => {
    const isUserInput = (message: Message): boolean => !textOf(message).includes('heartbeat');
    const items = tens(user('1'), says('x'), user('heartbeat'), says('y'), user('heartbeat'), says('z'));
    expect(selectTail(items, 1000, isUserInput)).toEqual({ start: 0, end: 6, oversized: false });
    expect(selectTail(items.slice(2), 1000, isUserInput)).toBeUndefined();
  });

  it('the property: begins with the user, is in one piece, fits or says so, and parts no pair that was whole', () => {
    let selected = 0;
    fc.assert(
      fc.property(anyConversation, fc.nat(600), (items, target) => {
        const tail = select(items, target);
        if (!tail) return;
        selected++;
        const { start, end, oversized } = tail;
        const kept = items.slice(start, end);
        expect(kept[0]?.messages.some(hasUserContent)).toBe(true);
        expect(sum(kept) <= target).toBe(!oversized);
        const whole = new Set(findBrokenPairs(items).map((name) => name.replace('result ', '')));
        // Only a result that has no call anywhere may be without one here.
        for (const name of findBrokenPairs(kept)) expect(whole).toContain(name.replace('result ', ''));
        // No larger tail would have fitted.
        const wider = items.findLastIndex(({ messages }, index) => index < start && messages.some(hasUserContent));
        if (!oversized && wider >= 0 && findBrokenPairs(items).length === 0 && end === items.length)
          expect(findBrokenPairs(items.slice(wider)).length > 0 || sum(items.slice(wider)) > target).toBe(true);
      }),
      { numRuns: 1000 },
    );
    expect(selected).toBeGreaterThan(500);
  });

  it('a hundred thousand items take one walk', () => {
    const items = Array.from({ length: 25_000 }, () => tens(user('1'), calls('a'), results('a'), says('x'))).flat();
    expect(select(items, 20_000)).toEqual({ start: 98_000, end: 100_000, oversized: false });
    // All calls wait under one id.
    expect(select(tens(user('1'), ...Array.from({ length: 50_000 }, () => calls('a'))), 100)).toMatchObject({ end: 1 });
  });
});

describe('previewGroup', () => {
  const preview = (group: readonly Sized[], target: number) => previewGroup(group, target, cutOptions);

  it('V24: two messages of 100,000 characters are cut to two that fit, and use what room there is', () => {
    const group = itemsOf(user('u'.repeat(100_000)), says('a'.repeat(100_000)));
    const cut = preview(group, 5000) ?? [];
    expect(cut.flatMap(({ messages }) => messages.map(({ role }) => role))).toEqual(['user', 'assistant']);
    expect(sum(cut)).toBeLessThanOrEqual(5000);
    expect(sum(cut)).toBeGreaterThan(4500);
    expect(sum(cut)).toBe(cutOptions.countItems(cut.flatMap(({ items }) => items)));
  });

  it('V24: arguments of 300,000 characters become {}, the id stays and the result still belongs to it', () => {
    const call: Message = {
      role: 'assistant',
      parts: [{ type: 'toolCall', id: 'c1', name: 'write', input: { text: 'x'.repeat(300_000) } }],
    };
    const group = itemsOf(user('Write it.'), call, results('c1'));
    const cut = preview(group, 1024) ?? [];
    expect(cut[1]?.messages).toEqual([{ role: 'assistant', parts: [{ type: 'toolCall', id: 'c1', name: 'write', input: {} }] }]);
    expect(findBrokenPairs(cut)).toEqual([]);
    expect(cut[0]).toBe(group[0]);
    expect(cut[2]).toBe(group[2]);
  });

  it('V22: each message has the same share of the target', () => {
    const group = itemsOf(user('Go.'), calls('a'), longResult('a', 40_000), says('s'.repeat(2000)));
    const cut = preview(group, 2400) ?? [];
    expect(cut[2]?.tokens).toBeGreaterThan(500);
    expect(cut[2]?.tokens).toBeLessThanOrEqual(600);
    expect(cut[3]).toBe(group[3]);
  });

  it('of a turn with very many steps the words of the user and the newest steps stay', () => {
    const steps = Array.from({ length: 1000 }, (_, step) => [calls(`c${step}`), longResult(`c${step}`, 4000)]).flat();
    const cut = preview(itemsOf(user('Count the lines.'), ...steps), 2000) ?? [];
    expect(cut[0]?.messages).toEqual([user('Count the lines.')]);
    expect(idsOf(cut, 'toolCall').at(-1)).toBe('c999');
    expect(findBrokenPairs(cut)).toEqual([]);
    expect(sum(cut)).toBeLessThanOrEqual(2000);
  });

  it('a reminder among the steps does not take the place of what the user said', () => {
    const steps = Array.from({ length: 300 }, (_, step) => [calls(`c${step}`), longResult(`c${step}`, 900)]).flat();
    const cut = preview(itemsOf(user('The question.'), ...steps.slice(0, 300), user('heartbeat'), ...steps.slice(300)), 1500);
    expect(cut?.[0]?.messages).toEqual([user('The question.')]);
  });

  it('is undefined where there is no room for a word', () => {
    expect(preview(itemsOf(user('A question.'.repeat(50)), says('x'.repeat(500))), 4)).toBeUndefined();
    expect(preview([], 1000)).toBeUndefined();
  });

  it('the property: never over the target, begins with the user, and parts no pair', () => {
    let cut = 0;
    fc.assert(
      fc.property(wholeConversation, fc.nat(400), (items, target) => {
        const tail = select(items, target);
        if (!tail?.oversized) return;
        const group = items.slice(tail.start, tail.end);
        const previews = preview(group, target);
        if (!previews) return;
        cut++;
        expect(sum(previews)).toBeLessThanOrEqual(target);
        expect(previews[0]?.messages.some(hasUserContent)).toBe(true);
        expect(findBrokenPairs(previews)).toEqual([]);
      }),
      { numRuns: 1000 },
    );
    expect(cut).toBeGreaterThan(50);
  });
});

describe('a tail in the shape of each provider', () => {
  for (const each of Object.values(providerKits))
    it(`${each.name}: the property: what is kept behind a summary are the very same items, and nothing in them must be repaired`, () => {
      // Each kit is sound in itself; a list of them has no common type.
      const { adapter, ...kit } = each as ProviderKit<object, object, unknown>;
      const read = createItemReader(adapter);
      const sizeOf = (items: readonly object[]): number =>
        items.reduce((total: number, entry) => total + countTokens(JSON.stringify(adapter.readItem(entry))), 0);
      const summary = adapter.writeMessage(user('The summary of all before.'));
      let cut = 0;
      fc.assert(
        fc.property(fc.nat(1_000_000), fc.nat(3000), fc.boolean(), (seed, target, open) => {
          const native = randomConversation({ adapter, ...kit }, chooseFrom(seed), { open });
          const all = native.map((entry) => ({ items: [entry], messages: adapter.readItem(entry), tokens: sizeOf([entry]) }));
          const tail = selectTail(all, target, hasUserContent);
          expect(tail?.end).toBe(all.length);
          const items = native.slice(tail?.start);
          if (items.length < native.length) cut++;
          const repaired = repairItems([...summary, ...items].map(read), { adapter, read }, { closeOpen: false });
          expect(repaired.repairs).toEqual([]);
          const rebuilt = adapter.withItems(kit.request(native), [...summary, ...items]);
          expect(kit.validate(rebuilt).filter(({ rule }) => !/^last-/.test(rule))).toEqual([]);
          repaired.items.slice(summary.length).forEach((entry, index) => void expect(entry).toBe(items[index]));
        }),
        { numRuns: 200 },
      );
      expect(cut).toBeGreaterThan(20);
    });
});

describe('findReasonedLoop', () => {
  const thinking = { type: 'thinking', thinking: 'Hm.', signature: 's' };
  const redacted = { type: 'redacted_thinking', data: 'x' };
  const calling = (id: string, ...before: object[]): AnthropicMessage => ({
    role: 'assistant',
    content: [...before, { type: 'tool_use', id, name: 'read', input: {} }] as never,
  });
  const result = (id: string, ...after: object[]): AnthropicMessage => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }, ...after] as never,
  });
  const asks: AnthropicMessage = { role: 'user', content: 'Go.' };
  const ends = (...items: AnthropicMessage[]): boolean => findReasonedLoop(items.map(readClaude), hasUserContent) !== undefined;

  it('true where the model thought before calls whose results it has not seen', () => {
    expect(ends(asks, calling('a', thinking), result('a'))).toBe(true);
    expect(ends(asks, calling('a', thinking), result('a'), calling('b'), result('b'))).toBe(true);
  });

  it('true also for thinking that nobody can read, and with words of the user beside the results', () => {
    expect(ends(asks, calling('a', redacted), result('a'))).toBe(true);
    expect(ends(asks, calling('a', thinking), result('a', { type: 'text', text: 'By the way.' }))).toBe(true);
  });

  it('false where nothing was thought since the last input of the user, or the turn is over', () => {
    expect(ends(asks, calling('a'), result('a'))).toBe(false);
    expect(ends(asks, calling('a', thinking), result('a'), asks)).toBe(false);
    expect(
      ends(asks, calling('a', thinking), result('a'), { role: 'assistant', content: 'Done.' }, asks, calling('b'), result('b')),
    ).toBe(false);
    expect(ends(asks, calling('a', thinking), result('a'), { role: 'assistant', content: 'Done.' })).toBe(false);
    expect(ends()).toBe(false);
  });

  it('looks past reminders at the end, and past those within the loop', () => {
    const isUserInput = (message: Message): boolean => !textOf(message).includes('heartbeat');
    const reminder: AnthropicMessage = { role: 'user', content: 'heartbeat' };
    const items = [asks, calling('a', thinking), result('a'), reminder, calling('b'), result('b'), reminder];
    expect(findReasonedLoop(items.map(readClaude), isUserInput)).toBeDefined();
    expect(findReasonedLoop([readClaude(reminder)], isUserInput)).toBeUndefined();
  });

  it('knows the reasoning of other shapes', () => {
    const call = { id: 'a', type: 'function', function: { name: 'read', arguments: '{}' } };
    const answer = { role: 'tool', tool_call_id: 'a', content: 'ok' };
    const items = (fields: object) => [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: null, tool_calls: [call], ...fields },
      answer,
      { role: 'system', content: 'A rule.' },
    ];
    const chat = (fields: object): boolean =>
      findReasonedLoop(
        items(fields).map((entry) => readChat(entry as never)),
        hasUserContent,
      ) !== undefined;
    expect(chat({ reasoning_content: 'Hm.' })).toBe(true);
    expect(chat({})).toBe(false);
  });
});
