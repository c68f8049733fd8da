import { describe, expect, it } from 'vitest';
import { isSigned, withBody } from '../../src/fetch/call-init.ts';

const entries = { Authorization: 'Bearer key', 'Content-Length': '7', 'x-a': 'b' };
const kept = [
  ['Authorization', 'Bearer key'],
  ['x-a', 'b'],
];

describe('withBody', () => {
  it('changes the body and leaves out the named headers, in the form in which they came', () => {
    const rebuilt = (headers: HeadersInit) => withBody({ headers, method: 'POST', body: 'old' }, { a: 1 }, ['content-length']);
    expect(rebuilt(entries)).toEqual({ method: 'POST', body: '{"a":1}', headers: Object.fromEntries(kept) });
    expect(rebuilt(Object.entries(entries)).headers).toEqual(kept);
    const { headers } = rebuilt(new Headers(entries));
    expect(headers).toBeInstanceOf(Headers);
    const names: string[] = [];
    (headers as Headers).forEach((value, name) => void names.push(`${name}: ${value}`));
    expect(names).toEqual(['authorization: Bearer key', 'x-a: b']);
  });

  it('keeps headers that have none of them as they are, and everything else of the call', () => {
    const signal = new AbortController().signal;
    const dispatcher = {};
    for (const headers of [{ 'x-a': 'b' }, [['x-a', 'b']] as [string, string][], new Headers({ 'x-a': 'b' })]) {
      const init = { headers, signal, dispatcher, method: 'POST', keepalive: true, body: 'old' };
      const rebuilt = withBody(init, {}, ['content-length']);
      expect(rebuilt.headers).toBe(headers);
      expect(rebuilt).toEqual({ ...init, body: '{}' });
    }
    expect(withBody({ method: 'POST' }, {}, ['content-length'])).toEqual({ method: 'POST', body: '{}' });
  });

  it('changes nothing of the caller’s', () => {
    const headers = new Headers(entries);
    const init = Object.freeze({ headers, body: 'old' });
    withBody(init, {}, ['content-length', 'authorization']);
    expect(headers.get('content-length')).toBe('7');
  });
});

describe('isSigned', () => {
  it('knows an AWS signature in headers of any form', () => {
    const signature = 'AWS4-HMAC-SHA256 Credential=AKIA, SignedHeaders=host, Signature=ab';
    expect(isSigned({ headers: { Authorization: signature } })).toBe(true);
    expect(isSigned({ headers: [['AUTHORIZATION', signature]] })).toBe(true);
    expect(isSigned({ headers: new Headers({ authorization: signature }) })).toBe(true);
    expect(isSigned({ headers: { authorization: 'Bearer AWS4-x' } })).toBe(false);
    expect(isSigned({ headers: { 'x-note': signature } })).toBe(false);
    expect(isSigned({})).toBe(false);
  });
});
