import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnthropicMessage, anthropicMessages } from '../../src/adapters/anthropic.ts';
import { createItemReader } from '../../src/history/reading.ts';
import { renameRepeatedCalls } from '../../src/history/repeated-calls.ts';
import { block } from '../support/report-shapes.ts';

const adapter = anthropicMessages();
const rename = (items: readonly AnthropicMessage[]) => renameRepeatedCalls(items, { adapter, read: createItemReader(adapter) });
const calls = (...ids: string[]): AnthropicMessage => ({
  role: 'assistant',
  content: ids.map((id) => block({ type: 'tool_use', id, name: 'read', input: { path: id } })),
});
const results = (...ids: string[]): AnthropicMessage => ({
  role: 'user',
  content: ids.map((id) => block({ type: 'tool_result', tool_use_id: id, content: `result of ${id}` })),
});
const idsOf = (items: readonly AnthropicMessage[]) =>
  items
    .flatMap((item) => adapter.readItem(item))
    .flatMap(({ parts }) => parts)
    .flatMap((part) => (part.type === 'toolCall' ? [part.id] : part.type === 'toolResult' ? [`-> ${part.callId}`] : []));

describe('renameRepeatedCalls', () => {
  it('gives the very same array back where no id is used twice', () => {
    const items = [calls('a', 'b'), results('a', 'b'), calls('c'), results('c')];
    expect(rename(items)).toBe(items);
  });

  it('renames the later call and its result, and leaves all others as they are', () => {
    const items = [
      calls('a'),
      results('a'),
      calls('b', 'a'),
      results('a', 'b'),
      calls('a'),
      results('a'),
      calls('c'),
      results('c'),
    ];
    const renamed = rename(items);
    expect(idsOf(renamed)).toEqual(['a', '-> a', 'b', 'a_2', '-> a_2', '-> b', 'a_3', '-> a_3', 'c', '-> c']);
    for (const index of [0, 1, 6, 7]) expect(renamed[index]).toBe(items[index]);
  });

  it('takes no id that another call has', () => {
    expect(idsOf(rename([calls('a'), results('a'), calls('a_2'), results('a_2'), calls('a'), results('a')]))).toEqual([
      'a',
      '-> a',
      'a_2',
      '-> a_2',
      'a_3',
      '-> a_3',
    ]);
  });

  it('tells calls apart that stand in one message under one id', () => {
    expect(idsOf(rename([calls('a', 'a')]))).toEqual(['a', 'a_2']);
    expect(idsOf(rename([calls('a', 'a'), results('a', 'a')]))).toEqual(['a', 'a_2', '-> a', '-> a_2']);
    expect(idsOf(rename([calls('a'), results('a'), calls('a', 'b', 'a'), results('b', 'a'), results('a')]))).toEqual([
      'a',
      '-> a',
      'a_2',
      'b',
      'a_3',
      '-> b',
      '-> a_2',
      '-> a_3',
    ]);
  });

  it('the property: no id twice, each result right behind its call, in linear time', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'a_2'), { maxLength: 40 }), (ids) => {
        const renamed = idsOf(rename(ids.flatMap((id) => [calls(id), results(id)])));
        const called = renamed.filter((id) => !id.startsWith('-> '));
        expect(new Set(called).size).toBe(ids.length);
        expect(renamed).toEqual(called.flatMap((id) => [id, `-> ${id}`]));
      }),
    );
    const many = Array.from({ length: 20_000 }, () => [calls('a'), results('a')]).flat();
    expect(new Set(idsOf(rename(many))).size).toBe(40_000);
  });
});
