import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeWellFormed } from '../../src/history/well-formed.ts';

describe('makeWellFormed', () => {
  it('B140: replaces lone surrogates wherever they are', () => {
    const broken = { text: 'a\ud800b', list: ['\udc00', { deep: '\ud83d' }], whole: '😀' };
    expect(makeWellFormed(broken)).toEqual({ text: 'a\ufffdb', list: ['\ufffd', { deep: '\ufffd' }], whole: '😀' });
  });

  it('gives the very same value where nothing is broken', () => {
    for (const value of [
      { text: '😀', list: [1, Number.NaN, null, undefined] },
      { number: Number.NaN },
      [Number.NaN],
      new Uint8Array(2),
      'ok',
      5,
      null,
    ])
      expect(makeWellFormed(value)).toBe(value);
  });

  it('keeps sound siblings as the very same objects', () => {
    const sound = { parts: [{ text: 'fine' }] };
    const formed = makeWellFormed({ sound, broken: '\ud800' });
    expect(formed.sound).toBe(sound);
    expect(formed.broken).toBe('\ufffd');
  });

  it('B140: gives a message of a framework back as one of its class, with the fields and symbols of its own', () => {
    const mark = Symbol('message');
    class Message {
      readonly type = 'human';
      readonly [mark] = true;
      content: string;
      constructor(content: string) {
        this.content = content;
      }
      get text(): string {
        return this.content;
      }
    }
    const broken = new Message('a\ud800');
    const formed = makeWellFormed({ messages: [broken] }).messages[0];
    expect(formed).toBeInstanceOf(Message);
    expect(formed?.text).toBe('a\ufffd');
    expect(formed?.[mark]).toBe(true);
    expect(broken.content).toBe('a\ud800');
    const sound = new Message('fine');
    expect(makeWellFormed(sound)).toBe(sound);
  });

  it('takes keys as they are, whatever they are called', () => {
    const formed = makeWellFormed(JSON.parse('{"__proto__":{"text":"\\ud800"},"deep":{"__proto__":"\\udc00"}}'));
    expect(JSON.stringify(formed)).toBe('{"__proto__":{"text":"\ufffd"},"deep":{"__proto__":"\ufffd"}}');
  });

  it('makes any JSON writable as UTF-8, and changes nothing else', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.string({ unit: 'binary' }), { maxLength: 4 }), (value, texts) => {
        const formed = makeWellFormed({ value, texts });
        expect(formed.texts).toEqual(texts.map((text) => text.toWellFormed()));
        expect(JSON.stringify(makeWellFormed(value)).isWellFormed()).toBe(true);
        expect(makeWellFormed(formed)).toBe(formed);
      }),
    );
  });
});
