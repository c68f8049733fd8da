import { createContext, runInContext } from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readPayload, writePayload } from '../../../src/session/stores/payload-text.ts';

const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('$bytes', '$$bytes', '$$$bytes', '__proto__')), tie('value'), {
      maxKeys: 3,
    }),
    fc.constantFrom('$bytes', '$$bytes', '$$$bytes').chain((key) => tie('value').map((inner) => ({ [key]: inner }))),
  ),
})).value;

it('values with bytes in them, and what looks like bytes, come back as they were, on one line', () => {
  fc.assert(
    fc.property(value, (payload) => {
      const text = writePayload(payload);
      expect(text).not.toContain('\n');
      expect(readPayload(text)).toEqual(payload);
      expect(writePayload(readPayload(text))).toBe(text);
    }),
    { numRuns: 3000 },
  );
});

it('bytes are written in one way, whatever they are a view of', () => {
  const bytes = Uint8Array.of(0, 1, 2, 3);
  for (const view of [bytes.subarray(1, 3), Buffer.from([1, 2]), new Uint8Array(bytes.buffer, 1, 2)])
    expect(writePayload({ view })).toBe('{"view":{"$bytes":"AQI="}}');
  const read = readPayload('{"view":{"$bytes":"AQI="}}');
  expect(read).toStrictEqual({ view: Uint8Array.of(1, 2) });
});

it('what only looks like bytes stays what it is, whatever stands beside it', () => {
  const like = { $bytes: 'AAEC' };
  const beside: object[] = [
    { more: undefined },
    { more: () => 1 },
    { more: Symbol('more') },
    { more: { toJSON: () => undefined } },
    { more: 1 },
    { $$bytes: 'AAEC' },
  ];
  for (const more of [...beside, Object.create({ inherited: 1 })]) {
    const given = Object.assign(Object.create(Object.getPrototypeOf(more)), like, more);
    const read = readPayload(writePayload({ given }));
    expect(read).toStrictEqual({ given: { ...like, ...JSON.parse(JSON.stringify(more)) } });
  }
});

it('bytes of another realm, and what turns itself into bytes, are bytes', () => {
  const foreign: unknown = runInContext('({ bytes: new Uint8Array([1, 2]) })', createContext());
  for (const payload of [foreign, { bytes: { toJSON: () => Uint8Array.of(1, 2) } }])
    expect(readPayload(writePayload(payload))).toStrictEqual({ bytes: Uint8Array.of(1, 2) });
});

it('what JSON leaves out is left out, and what turns itself into JSON does so', () => {
  const url = new URL('https://example.com/');
  const written = writePayload({ url, none: undefined, run: () => 1, list: [undefined], date: new Date(0), odd: Number.NaN });
  expect(JSON.parse(written)).toEqual({ url: url.href, list: [null], date: '1970-01-01T00:00:00.000Z', odd: null });
  expect(writePayload(undefined)).toBe('null');
});

it('what JSON cannot say is a typed error', () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  let deep: unknown = 1;
  for (let depth = 0; depth < 200_000; depth++) deep = [deep];
  for (const payload of [1n, { a: [1n] }, cycle, deep])
    expect(() => writePayload(payload)).toThrow(expect.objectContaining({ code: 'invalid-event' }));
});

it('whatever depth can be written can be read', () => {
  let deep: unknown = Uint8Array.of(1);
  let text = '';
  for (let depth = 1; ; depth++) {
    deep = { deep };
    if (depth % 50 !== 0) continue;
    try {
      text = writePayload(deep);
    } catch {
      break;
    }
  }
  expect(text.length).toBeGreaterThan(1000);
  expect(() => readPayload(text)).not.toThrow();
  const readFrom = (frames: number): unknown => (frames > 0 ? readFrom(frames - 1) : readPayload(text));
  expect(() => readFrom(1000)).not.toThrow();
});
