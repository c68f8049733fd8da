import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BedrockInput, type BedrockMessage, bedrockConverse } from '../../src/adapters/bedrock.ts';

const adapter = bedrockConverse();
const cachePoint = { cachePoint: { type: 'default' } };
const user = (...content: object[]): BedrockMessage => ({ role: 'user', content });
const assistant = (...content: object[]): BedrockMessage => ({ role: 'assistant', content });
const system = (text: string): BedrockMessage => ({ role: 'system', content: [{ text }] });
const says = (text: string): object => ({ text });
const result = (toolUseId: string): object => ({ toolResult: { toolUseId, content: [] } });
const input = (messages: readonly BedrockMessage[] = []): BedrockInput => ({ modelId: 'm', messages });
const arrange = (...items: BedrockMessage[]): readonly BedrockMessage[] | undefined => adapter.withItems(input(), items).messages;

describe('withItems', () => {
  it('makes one turn of messages of one role, results first', () => {
    expect(arrange(user(says('a')), user(says('b'), result('x')), user(cachePoint, result('y')))).toEqual([
      user(result('x'), cachePoint, result('y'), says('a'), says('b')),
    ]);
    expect(arrange(user(says('a')), assistant(says('b')), assistant(says('c')), user(says('d')))).toEqual([
      user(says('a')),
      assistant(says('b'), says('c')),
      user(says('d')),
    ]);
  });

  it('keeps the very same objects where nothing is merged or moved', () => {
    const items = [user(says('a')), assistant(says('b')), user(result('x'), says('c'), cachePoint)];
    const arranged = arrange(...items);
    items.forEach((item, index) => {
      expect(arranged?.[index]).toBe(item);
    });
  });

  it('B041: whatever comes in, user and assistant alternate, results come first, and each block is there once', () => {
    const blocks = (...kinds: (() => object)[]) =>
      fc.array(
        fc.constantFrom(...kinds).map((make) => make()),
        { maxLength: 4 },
      );
    const text = () => says('a');
    const point = () => ({ cachePoint: { type: 'default' } });
    const item = fc.oneof(
      fc.record({ role: fc.constant('user'), content: blocks(text, point, () => result('x')) }),
      fc.record({ role: fc.constant('assistant'), content: blocks(text, point) }),
      fc.record({ role: fc.constant('system'), content: blocks(text) }),
    );
    fc.assert(
      fc.property(fc.array(item, { maxLength: 12 }), fc.nat(12), (items, cut) => {
        const known = adapter.withItems(input(), items.slice(0, cut));
        for (const request of [adapter.withItems(input(), items), adapter.withItems(known, items)]) {
          const turns = (request.messages ?? []).filter(({ role }) => role !== 'system');
          turns.forEach(({ role }, index) => {
            expect(role).not.toBe(turns[index - 1]?.role);
          });
          for (const { role, content = [] } of turns) {
            const kinds = content.filter((entry) => !('cachePoint' in entry)).map((entry) => 'toolResult' in entry);
            if (role === 'user') expect(kinds).toEqual(kinds.toSorted((left, right) => Number(right) - Number(left)));
          }
          const given = new Set(items.flatMap(({ content }) => content));
          const found = (request.messages ?? []).flatMap(({ content = [] }) => content);
          expect(found).toHaveLength(given.size);
          for (const block of found) expect(given.delete(block)).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('gives back in `items` what it took, the very same objects, also merged and grown', () => {
    const items = [user(says('a')), user(says('b')), assistant(says('c')), user(result('x')), user(says('d'))];
    let request = input();
    for (let count = 1; count <= items.length; count++) {
      request = adapter.withItems(request, [...adapter.items(request), ...items.slice(count - 1, count)]);
      const read = adapter.items(request);
      expect(read).toHaveLength(count);
      read.forEach((item, index) => {
        expect(item).toBe(items[index]);
      });
    }
    expect(request.messages).toHaveLength(3);
  });

  it('leaves what the request has already as it is, however odd', () => {
    const odd = [assistant(says('a')), user(says('b')), user(says(' '), result('x')), assistant(says('c')), user(says('d'))];
    const grown = adapter.withItems(input(odd), [...odd, user(says('e'))]);
    expect(grown.messages).toEqual([...odd.slice(0, 4), user(says('d'), says('e'))]);
    expect(adapter.withItems(input(odd), odd).messages).toEqual(odd);
    const answered = adapter.withItems(input(odd.slice(0, 4)), [...odd.slice(0, 4), assistant(says('e'))]);
    expect(answered.messages).toEqual([...odd.slice(0, 3), assistant(says('c'), says('e'))]);
  });

  it('takes a merged message for one where it was edited since, cache points apart', () => {
    const items = [user(says('a')), user(says('b'))];
    const request = adapter.withItems(input(), items);
    const merged = request.messages?.[0]?.content as object[];
    merged.push(cachePoint);
    expect(adapter.items(request)).toEqual(items);
    expect(adapter.withItems(request, [...items, assistant(says('c'))]).messages?.[0]?.content).toBe(merged);
    merged.push(says('c'));
    expect(adapter.items(request)).toEqual([user(says('a'), says('b'), cachePoint, says('c'))]);
  });

  it('places system messages behind a user message, and last or before an assistant', () => {
    expect(arrange(user(says('a')), system('s'), user(says('b')), assistant(says('c')))).toEqual([
      user(says('a'), says('b')),
      system('s'),
      assistant(says('c')),
    ]);
    expect(arrange(user(says('a')), system('s'), assistant(says('b')), system('t'))).toEqual([
      user(says('a')),
      { role: 'system', content: [says('s'), says('t')] },
      assistant(says('b')),
    ]);
    const own = [{ toolUse: { toolUseId: 'x', name: 'f', input: {}, type: 'server_tool_use' } }, result('x')];
    const items = [user(says('a')), assistant(...own), system('s')];
    expect(arrange(...items)).toEqual(items);
  });

  it('tells documents of one name apart, in results too, and leaves the others alone', () => {
    const document = (name: string): object => ({ document: { format: 'pdf', name, source: { text: 'x' } } });
    const held = { toolResult: { toolUseId: 'x', content: [document('a'), { text: 'x' }] } };
    const items = [
      user(document('a'), says('1')),
      assistant(says('2')),
      user(held, document('a'), document('b'), says('3')),
      assistant(says('4')),
      user(document('a 2'), document('a'), says('5')),
    ];
    const arranged = arrange(...items);
    expect(arranged?.[0]).toBe(items[0]);
    expect(arranged?.slice(2)).toEqual([
      user(
        { toolResult: { toolUseId: 'x', content: [document('a 2'), { text: 'x' }] } },
        document('a 3'),
        document('b'),
        says('3'),
      ),
      assistant(says('4')),
      user(document('a 2 2'), document('a 4'), says('5')),
    ]);
  });
});
