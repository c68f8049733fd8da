import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyDeep } from '../src/copy.ts';
import { freezeDeep } from './support/freeze.ts';

describe('copyDeep', () => {
  it('copies a Buffer, whose own slice would share its memory', () => {
    const bytes = Buffer.from('abc');
    copyDeep({ bytes }).bytes[0] = 0;
    expect(bytes.toString()).toBe('abc');
  });

  it('copies any JSON, and shares no object with it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const before = structuredClone(value);
        const copy = copyDeep(value);
        expect(copy).toEqual(value);
        wreck(copy);
        expect(value).toEqual(before);
      }),
    );
  });

  it('copies bytes', () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const copy = copyDeep({ bytes });
    copy.bytes[0] = 9;
    expect([...bytes]).toEqual([1, 2, 3]);
    expect(copyDeep(new Uint8Array(new Uint8Array([7, 8, 9]).buffer, 1, 1))).toEqual(new Uint8Array([8]));
  });

  it('copies plain objects, lists and bytes of another realm, as under Jest', () => {
    const foreign = runInNewContext('({ list: [{ deep: 1 }], bytes: Uint8Array.of(1, 2) })');
    const copy = copyDeep(foreign);
    foreign.list[0].deep = 2;
    foreign.bytes[0] = 9;
    expect(JSON.stringify(copy.list)).toBe('[{"deep":1}]');
    expect([...copy.bytes]).toEqual([1, 2]);
  });

  it('keeps instances of classes, which it could not rebuild', () => {
    class Native {
      readonly #hidden = 1;
      read(): number {
        return this.#hidden;
      }
    }
    const native = new Native();
    const copy = copyDeep({ parts: [{ native }] });
    expect(copy.parts[0]?.native).toBe(native);
    expect(copy.parts[0]?.native.read()).toBe(1);
  });

  it('keeps undefined, null, objects without a prototype and odd keys', () => {
    const bare: Record<string, unknown> = Object.assign(Object.create(null), { a: [undefined, null] });
    const parsed: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}');
    expect(copyDeep(bare)).toEqual({ a: [undefined, null] });
    expect(JSON.stringify(copyDeep(parsed))).toBe('{"__proto__":{"polluted":true},"constructor":1}');
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('copies what refers to itself, or to one object twice, as it is', () => {
    const shared = { name: 'shared' };
    const value: Record<string, unknown> = { list: [shared, shared] };
    value.self = { again: value };
    const copy = copyDeep(value);
    expect(copy).toEqual(value);
    expect(copy.self).toEqual({ again: copy });
    expect(Reflect.get(copy.self as object, 'again')).toBe(copy);
    const [first, second] = copy.list as object[];
    expect(first).toBe(second);
    expect(first).not.toBe(shared);
  });

  it('writes nothing into what it copies', () => {
    const frozen = freezeDeep({ list: [{ text: 'a' }], empty: {} });
    expect(copyDeep(frozen)).toEqual(frozen);
  });
});

/** Changes everything that can be changed. */
function wreck(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const entry of Object.values(value)) wreck(entry);
  if (Array.isArray(value)) value.push('wrecked');
  else Object.assign(value, { wrecked: true });
}
