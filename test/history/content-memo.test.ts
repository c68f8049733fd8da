import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CompactionError } from '../../src/errors.ts';
import { memoizeByContent } from '../../src/history/content-memo.ts';

/** A memo, and how often it computed. */
function counted(): { read: (value: object) => string; calls: () => number } {
  let calls = 0;
  return {
    read: memoizeByContent((value: object) => {
      calls++;
      return JSON.stringify(value);
    }),
    calls: () => calls,
  };
}

describe('memoizeByContent', () => {
  it('computes once for an object that stays as it is', () => {
    const { read, calls } = counted();
    const value = { role: 'user', content: [{ type: 'text', text: 'x'.repeat(1000) }] };
    expect(read(value)).toBe(read(value));
    expect(calls()).toBe(1);
  });

  it('computes for each object of its own, equal or not', () => {
    const { read, calls } = counted();
    expect(read({ a: 1 })).toBe(read({ a: 1 }));
    expect(calls()).toBe(2);
  });

  it.each<[string, (value: { list: unknown[]; text: string; inner: Record<string, unknown> }) => unknown]>([
    ['a text is edited', (value) => Object.assign(value, { text: 'other' })],
    ['an entry is added', (value) => value.list.push(3)],
    ['an entry is removed', (value) => value.list.pop()],
    ['entries change places', (value) => value.list.reverse()],
    ['a key is added', (value) => Object.assign(value.inner, { added: undefined })],
    ['a key is removed', (value) => delete value.inner.deep],
    ['a deep value changes', (value) => Object.assign(value.inner, { deep: [{ leaf: 2 }] })],
    ['a number becomes its text', (value) => value.list.splice(0, 1, '1')],
    ['an object moves one level up', (value) => Object.assign(value, { inner: {}, deep: [{ leaf: 1 }] })],
    ['0 becomes -0', (value) => value.list.splice(1, 1, -0)],
  ])('computes again after %s in place', (_name, edit) => {
    const { read, calls } = counted();
    const value = { list: [1, 0], text: 'one', inner: { deep: [{ leaf: 1 }] } };
    read(value);
    edit(value);
    const after = read(value);
    expect(calls()).toBe(2);
    expect(after).toBe(JSON.stringify(value));
    read(value);
    expect(calls()).toBe(2);
  });

  it('knows NaN again', () => {
    const { read, calls } = counted();
    const value = { number: Number.NaN };
    read(value);
    read(value);
    expect(calls()).toBe(1);
  });

  it('gives after any edit what a fresh computation gives', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (first, second, third) => {
        const { read } = counted();
        const value: { edited: unknown } = { edited: first };
        for (const edited of [first, second, third, second]) {
          value.edited = edited;
          expect(read(value)).toBe(JSON.stringify(value));
        }
      }),
    );
  });

  it('refuses values that refer to themselves or are nested without end', () => {
    const { read } = counted();
    const cyclic: Record<string, unknown> = {};
    cyclic.self = [cyclic];
    expect(() => read(cyclic)).toThrow(CompactionError);
    let deep: unknown = 'leaf';
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(() => read({ deep })).toThrow('levels deep');
  });
});
