import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { isBytes, isError, isPlainObject, isRegExp, isUrl } from '../src/any-realm.ts';

const foreign = (code: string): unknown => runInNewContext(code, { URL });

describe('in any realm', () => {
  it.each<[string, (value: never) => boolean, string, unknown]>([
    ['bytes', isBytes, 'Uint8Array.of(1)', Uint8Array.of(1)],
    ['plain objects', isPlainObject, '({ a: 1 })', { a: 1 }],
    ['objects without a prototype', isPlainObject, 'Object.create(null)', Object.create(null)],
    ['errors', isError, 'new TypeError("x")', new TypeError('x')],
    ['regular expressions', isRegExp, '/x/', /x/],
    ['URLs', isUrl, 'new URL("https://example.com")', new URL('https://example.com')],
  ])('%s are known', (_name, is, code, own) => {
    expect(is(foreign(code) as never)).toBe(true);
    expect(is(own as never)).toBe(true);
  });

  it('knows what is none of them', () => {
    class Own {}
    expect(isPlainObject(new Own())).toBe(false);
    expect(isPlainObject(foreign('new (class {})()') as object)).toBe(false);
    expect(isBytes(new Uint16Array(1))).toBe(false);
    expect(isBytes(new DataView(new ArrayBuffer(1)))).toBe(false);
    for (const value of [undefined, null, 'x', { name: 'Error', message: 'x' }, []]) {
      expect(isBytes(value)).toBe(false);
      expect(isError(value)).toBe(false);
      expect(isRegExp(value)).toBe(false);
      expect(isUrl(value)).toBe(false);
    }
    expect(isError(new DOMException('x', 'AbortError'))).toBe(true);
  });
});
