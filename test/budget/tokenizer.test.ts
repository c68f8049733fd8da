import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import * as o200k from 'gpt-tokenizer/encoding/o200k_base';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { utf8Length } from '../../src/budget/token-counter.ts';
import { loadTokenCounter, type TokenEncoding } from '../../src/budget/tokenizer.ts';

const asPlainText = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
const countExactly = (text: string) => o200k.countTokens(text, asPlainText);

const samples: Record<string, string> = {
  prose: 'The library keeps the newest words of the user as they are; everything else may give way. It\'s "simple", isn\'t it?',
  code: 'export function add(first: number, second: number): number {\n    return first + second; // sum\n}\n\n\n',
  'deep indentation': `${' '.repeat(120)}if (ready) {\n${'\t'.repeat(40)}go();\n}`,
  'rulers and tables': `${'-'.repeat(120)}\n| a | b |\n|${'-'.repeat(40)}|${'='.repeat(60)}|\n${'*'.repeat(80)}\n`,
  JSON: JSON.stringify({
    id: 123456789,
    tags: ['a', 'b'],
    nested: { text: 'line\nbreak "quoted"', none: null, ratio: 0.123456789 },
  }).repeat(20),
  diff: '@@ -1,7 +1,9 @@\n-const a = 1;\n+const a = 2;\n context line\n',
  log: '2026-02-03T04:05:06.789Z INFO [worker-3] GET /api/v1/items?id=42&x=%20 200 13ms\n'.repeat(10),
  Chinese: '今天天气很好，我们去公园散步吧。请把这段文字翻译成英文：上下文窗口是有限的。',
  Japanese: 'これは要約です。ツールの結果を「そのまま」残してください。カタカナとひらがな、漢字。',
  Korean: '컨텍스트 창은 유한합니다. 오래된 메시지는 요약으로 바뀝니다.',
  Russian: 'Окно контекста конечно, поэтому старые сообщения заменяются кратким изложением.',
  Arabic: 'نافذة السياق محدودة، لذلك تُستبدل الرسائل القديمة بملخص.',
  Hindi: 'संदर्भ विंडो सीमित है, इसलिए पुराने संदेश सारांश बन जाते हैं।',
  emoji: 'Done 🎉👩‍👩‍👧‍👦 👍🏽 🇫🇷 ok',
  base64: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA\n'.repeat(5),
  hex: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n'.repeat(5),
  digits: '3.14159265358979323846264338327950288419716939937510 1234567890 0000000000',
};

afterEach(() => {
  vi.doUnmock('gpt-tokenizer/encoding/p50k_edit');
  vi.resetModules();
});

describe('loadTokenCounter', () => {
  it('loads each vocabulary once', async () => {
    const [first, second] = await Promise.all([loadTokenCounter(), loadTokenCounter('o200k_base')]);
    expect(first).toBe(second);
    expect(await loadTokenCounter('cl100k_base')).not.toBe(first);
  });

  it('loads every vocabulary', async () => {
    const encodings: TokenEncoding[] = [
      'o200k_base',
      'o200k_harmony',
      'cl100k_base',
      'p50k_base',
      'p50k_edit',
      'r50k_base',
      'gpt2',
    ];
    for (const encoding of encodings) {
      const count = await loadTokenCounter(encoding);
      expect(count(''), encoding).toBe(0);
      expect(count('hello world'), encoding).toBe(2);
      expect(count(`${'7'.repeat(5000)}<|endoftext|><|start|>\ud800`), encoding).toBeGreaterThan(500);
    }
  });

  it('names an unknown vocabulary and those that exist', async () => {
    // The cast stands for a caller without types.
    await expect(loadTokenCounter('toString' as TokenEncoding)).rejects.toMatchObject({
      code: 'invalid-options',
      message: expect.stringMatching(/"toString".*o200k_base/),
    });
  });

  it('tries a failed load again', async () => {
    vi.resetModules();
    vi.doMock('gpt-tokenizer/encoding/p50k_edit', () => {
      throw new Error('no such file');
    });
    const fresh = await import('../../src/budget/tokenizer.ts');
    await expect(fresh.loadTokenCounter('p50k_edit')).rejects.toThrow();
    vi.doUnmock('gpt-tokenizer/encoding/p50k_edit');
    const count = await fresh.loadTokenCounter('p50k_edit');
    expect(count('hello world')).toBe(2);
  });

  it('falls back to a third of the bytes where the tokenizer fails', async () => {
    vi.resetModules();
    vi.doMock('gpt-tokenizer/encoding/p50k_edit', () => ({
      countTokens: () => {
        throw new Error('inside');
      },
      setMergeCacheSize: () => {},
      clearMergeCache: () => {},
    }));
    const fresh = await import('../../src/budget/tokenizer.ts');
    const count = await fresh.loadTokenCounter('p50k_edit');
    expect(count('four')).toBe(2);
  });

  it('keeps the cache of the tokenizer small and empties it after large texts', async () => {
    const setMergeCacheSize = vi.fn();
    const clearMergeCache = vi.fn();
    vi.resetModules();
    vi.doMock('gpt-tokenizer/encoding/p50k_edit', () => ({ countTokens: () => 1, setMergeCacheSize, clearMergeCache }));
    const fresh = await import('../../src/budget/tokenizer.ts');
    const count = await fresh.loadTokenCounter('p50k_edit');
    expect(setMergeCacheSize).toHaveBeenCalledOnce();
    expect(setMergeCacheSize.mock.calls[0]?.[0]).toBeLessThanOrEqual(10_000);
    clearMergeCache.mockClear();
    count('a few words');
    expect(clearMergeCache).not.toHaveBeenCalled();
    count('a few words '.repeat(200_000));
    expect(clearMergeCache).toHaveBeenCalledOnce();
    for (let index = 0; index < 200; index++) count('a few words '.repeat(2000));
    expect(clearMergeCache.mock.calls.length).toBeGreaterThan(3);
  });
});

describe('the o200k counter', () => {
  it('agrees with the tokenizer on ordinary text', async () => {
    const count = await loadTokenCounter();
    for (const [name, text] of Object.entries(samples)) {
      for (const sample of [text, text.repeat(30)]) expect(count(sample), name).toBe(countExactly(sample));
    }
  });

  it('agrees with the tokenizer on the source of this library', async () => {
    const count = await loadTokenCounter();
    const files = readdirSync(new URL('../../src', import.meta.url), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    expect(files.length).toBeGreaterThan(10);
    for (const file of files) {
      const text = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
      expect(count(text), file).toBe(countExactly(text));
    }
  });

  it('agrees with the tokenizer on short strings of any kind', async () => {
    const count = await loadTokenCounter();
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => count(text) === countExactly(text)));
  });

  it('errs by less than one percent where a run has to be cut', async () => {
    const count = await loadTokenCounter();
    const letters = Array.from({ length: 3000 }, (_, index) => 'etaoinshrdlu'.charAt((index * index * 7 + index) % 12)).join('');
    const han = samples.Chinese?.replaceAll(/[，。：]/g, '').repeat(40) ?? '';
    const runs = ['a', ' ', '=', '\n', '7', '_', '😀'].map((character) =>
      `before ${character.repeat(15_000)} after`.slice(0, 4000),
    );
    for (const text of [letters, han, ...runs]) {
      const exact = countExactly(text);
      const allowed = Math.max(4, exact * 0.01);
      expect(Math.abs(count(text) - exact), text.slice(0, 20)).toBeLessThanOrEqual(allowed);
    }
  });

  it('never counts more tokens than UTF-8 bytes, nor none for some text', async () => {
    const count = await loadTokenCounter();
    const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.string({ unit, minLength: 1, maxLength: 600 }), (text) => {
        const tokens = count(text);
        return Number.isInteger(tokens) && tokens > 0 && tokens <= utf8Length(text);
      }),
    );
  });

  it('B137: counts the special tokens of any vendor as plain text', async () => {
    const count = await loadTokenCounter();
    const literals = [
      '<|endoftext|>',
      '<|im_start|>',
      '<|im_end|>',
      '<|fim_prefix|>',
      '<|endofprompt|>',
      '<start_of_turn>',
      '[INST]',
      '<|start|>',
    ];
    for (const literal of literals) {
      expect(count(literal), literal).toBeGreaterThan(1);
      expect(count(`${literal} and ${literal}`), literal).toBe(countExactly(`${literal} and ${literal}`));
    }
    expect(count('<|endoftext|>'.repeat(20_000))).toBeGreaterThan(100_000);
  });

  it('B135: counts a million of any one character', async () => {
    const count = await loadTokenCounter();
    const million = 1_000_000;
    expect(count('a'.repeat(million))).toBe(125_000);
    expect(count(' '.repeat(million))).toBe(Math.ceil(million / 128));
    expect(count('\n'.repeat(million))).toBe(million / 16);
    expect(count('='.repeat(million))).toBe(million / 64);
    expect(count('\0'.repeat(million))).toBe(million / 2);
    for (const character of [
      '_',
      '-',
      '\t',
      '7',
      '漢',
      'é',
      '😀',
      '\ud800',
      '\udc00',
      '\u200d',
      '\ufeff',
      'A\u0301',
      '!\n',
      '/\n',
      '<|',
    ]) {
      const text = character.repeat(million);
      const tokens = count(text);
      expect(tokens, JSON.stringify(character)).toBeGreaterThan(million / 130);
      expect(tokens, JSON.stringify(character)).toBeLessThanOrEqual(utf8Length(text));
    }
  });

  it('B135: counts megabytes without a space that never repeat', async () => {
    const count = await loadTokenCounter();
    let state = 1;
    const random = (limit: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (state >>> 8) % limit;
    };
    const letters = Array.from({ length: 400_000 }, () => String.fromCharCode(97 + random(26))).join('');
    const han = Array.from({ length: 200_000 }, () => String.fromCharCode(0x4e00 + random(4000))).join('');
    const emoji = Array.from({ length: 100_000 }, () => String.fromCodePoint(0x1f600 + random(80))).join('');
    for (const text of [letters, han, emoji]) expect(count(text)).toBeGreaterThan(text.length / 4);
  });

  it('counts ten megabytes', async () => {
    const count = await loadTokenCounter();
    const sentence = 'the quick brown fox jumps over the lazy dog. ';
    const times = Math.ceil(10_000_000 / sentence.length);
    expect(count(sentence.repeat(times))).toBe(
      (countExactly(sentence.repeat(3)) - countExactly(sentence.repeat(2))) * (times - 2) + countExactly(sentence.repeat(2)),
    );
    expect(count(' '.repeat(10_240_000))).toBe(80_000);
  });
});
