import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CompactionError } from '../../src/errors.ts';
import { fingerprint, linkFingerprints } from '../../src/history/fingerprint.ts';

describe('fingerprint', () => {
  it('is equal for clones and for other orders of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(fingerprint(structuredClone(value))).toBe(fingerprint(value));
        expect(fingerprint(reorder(value))).toBe(fingerprint(value));
      }),
    );
  });

  it('differs where the content differs', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const same = JSON.stringify(sortKeys(left)) === JSON.stringify(sortKeys(right));
        expect(fingerprint(left) === fingerprint(right)).toBe(same);
      }),
    );
  });

  it.each<[unknown, unknown]>([
    [1, '1'],
    [null, 'null'],
    [[], {}],
    [[['a'], 'b'], [['a', 'b']]],
    [{ a: 'b' }, { ab: '' }],
    [{ a: { b: 1 } }, { a: {}, b: 1 }],
    [
      ['a', 'b'],
      ['ab', ''],
    ],
    ['p1;', 1],
    ['[]', []],
    ['ab', 'ba'],
    ['a', 'a\u0000'],
    [
      [1, 23],
      [12, 3],
    ],
    ['\ud800', '\ufffd'],
    [new Uint8Array([1, 2]), new Uint8Array([2, 1])],
    [new Uint8Array([1]), [1]],
    [new URL('https://a.example/1.png'), new URL('https://a.example/2.png')],
    [new Date(1), new Date(2)],
  ])('tells %j from %j', (left, right) => {
    expect(fingerprint(left)).not.toBe(fingerprint(right));
  });

  it('leaves out markers of the prompt cache and absent fields, and nothing else', () => {
    const plain = { type: 'text', text: 'a' };
    expect(fingerprint({ ...plain, cache_control: { type: 'ephemeral' } })).toBe(fingerprint(plain));
    expect(fingerprint([plain, { cachePoint: { type: 'default' } }])).toBe(fingerprint([plain, {}]));
    expect(fingerprint({ ...plain, note: undefined })).toBe(fingerprint(plain));
    expect(fingerprint({ ...plain, note: null })).not.toBe(fingerprint(plain));
  });

  it('takes values that are no JSON', () => {
    for (const value of [undefined, 10n, Symbol('s'), () => 1, Number.NaN, new Map([[1, 2]])])
      expect(fingerprint({ value })).toMatch(/^[0-9a-f]{16}$/);
  });

  it('refuses cycles and endless nesting, with a typed error', () => {
    const cyclic: unknown[] = [];
    cyclic.push({ cyclic });
    expect(() => fingerprint(cyclic)).toThrow(CompactionError);
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = { deep };
    expect(() => fingerprint(deep)).toThrow(CompactionError);
  });

  it('has no collision among a hundred thousand short texts', () => {
    const seen = new Set<string>();
    for (let index = 0; index < 100_000; index++) seen.add(fingerprint(`message ${index}`));
    expect(seen.size).toBe(100_000);
  });
});

describe('linkFingerprints', () => {
  const chainFingerprints = (list: string[]): string[] => {
    const chain = [''];
    for (const next of list) chain.push(linkFingerprints(chain.at(-1) ?? '', next));
    return chain;
  };

  it('stands for every prefix, in order', () => {
    const chain = chainFingerprints(['a', 'b', 'c']);
    expect(chain).toHaveLength(4);
    expect(chain[0]).toBe('');
    expect(chain.slice(0, 3)).toEqual(chainFingerprints(['a', 'b']));
    expect(chainFingerprints(['b', 'a', 'c'])[2]).not.toBe(chain[2]);
    expect(chainFingerprints(['ab', '', 'c'])[2]).not.toBe(chain[2]);
    expect(new Set(chain).size).toBe(4);
  });
});

/** The same content with its keys the other way round. */
function reorder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reorder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, entry]) => [key, reorder(entry)]),
  );
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, entry]) => [key, sortKeys(entry)]),
  );
}
