import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundedMap } from '../../src/history/bounded-map.ts';

describe('BoundedMap', () => {
  it('forgets what was not used for the longest time', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    expect(map.get('a')).toBe(1);
    map.set('c', 3);
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([1, undefined, 3]);
  });

  it('takes a key that is set again for used, and keeps one value of it', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    map.set('c', 4);
    expect([...map.values()]).toEqual([3, 4]);
  });

  it('deletes', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.delete('a');
    map.delete('never there');
    expect([...map.values()]).toEqual([]);
  });

  it('holds exactly the entries that were used last, whatever is done to it', () => {
    const step = fc.record({ set: fc.boolean(), key: fc.nat(9) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step), (limit, steps) => {
        const map = new BoundedMap<number, string>(limit);
        let used: number[] = [];
        for (const { set, key } of steps) {
          if (set) map.set(key, `value ${key}`);
          else map.get(key);
          if (set || used.includes(key)) used = [...used.filter((other) => other !== key), key].slice(-limit);
        }
        expect([...map.values()]).toEqual(used.map((key) => `value ${key}`));
      }),
    );
  });
});
