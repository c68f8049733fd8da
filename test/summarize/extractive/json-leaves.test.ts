import { describe, expect, it } from 'vitest';
import { jsonLeaves } from '../../../src/summarize/extractive/json-leaves.ts';

describe('jsonLeaves', () => {
  it('names each value by its way', () => {
    expect(jsonLeaves(' {"a":{"b":[1,true,"x"]},"c":null,"d":""}')).toEqual(['a.b.0: 1', 'a.b.1: true', 'a.b.2: x']);
  });

  it('leaves other text, broken JSON and very large JSON to the lines', () => {
    for (const text of ['a: 1', '5', '{"a":', `[${'1,'.repeat(200_000)}1]`]) expect(jsonLeaves(text)).toBeUndefined();
  });

  it('is bounded in number and depth', () => {
    expect(jsonLeaves(JSON.stringify(Array.from({ length: 5_000 }, (_, index) => index)))?.length).toBeLessThanOrEqual(400);
    expect(jsonLeaves(`${'['.repeat(5_000)}1${']'.repeat(5_000)}`)).toEqual([]);
  });
});
