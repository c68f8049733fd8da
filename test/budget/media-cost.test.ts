import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TokenFamily } from '../../src/adapters/adapter.ts';
import { imageTokenFloor, mediaTokens } from '../../src/budget/media-cost.ts';
import type { MediaPart } from '../../src/message.ts';

const families: TokenFamily[] = ['openai', 'anthropic', 'google', 'generic'];
const image = (width: number, height: number, detail?: string): MediaPart => ({
  type: 'media',
  kind: 'image',
  width,
  height,
  ...(detail === undefined ? {} : { detail }),
  value: null,
});
const file = (kind: MediaPart['kind'], bytes?: number): MediaPart => ({
  type: 'media',
  kind,
  ...(bytes === undefined ? {} : { bytes }),
  value: null,
});

describe('image costs of OpenAI', () => {
  it.each([
    ['gpt-4o', 1024, 1024, 'high', 765],
    ['gpt-4o', 2048, 4096, 'auto', 1105],
    ['gpt-4o', 4096, 8192, 'low', 85],
    ['gpt-4.1-2025-04-14', 100, 100, undefined, 255],
    ['gpt-4o-mini', 512, 512, undefined, 8500],
    ['gpt-5', 1024, 1024, undefined, 630],
    ['gpt-5-2025-08-07', 1024, 1024, 'low', 70],
    ['gpt-5.1-codex-max', 512, 512, undefined, 210],
    ['o3', 512, 512, undefined, 225],
    ['computer-use-preview', 512, 512, 'low', 65],
  ])('%s pays for tiles', (model, width, height, detail, tokens) => {
    expect(mediaTokens(image(width, height, detail), 'openai', model)).toBe(tokens);
  });

  it.each([
    ['gpt-4.1-mini', 1024, 1024, undefined, Math.ceil(1024 * 1.62)],
    ['gpt-4.1-mini', 1800, 2400, undefined, Math.ceil(1452 * 1.62)],
    ['gpt-4.1-nano', 1024, 1024, 'low', Math.ceil(1024 * 2.46)],
    ['o4-mini', 1024, 1024, undefined, Math.ceil(1024 * 1.72)],
    ['gpt-5-mini', 1280, 720, undefined, 1104],
    ['gpt-5-mini', 2048, 768, undefined, 1844],
    ['gpt-5-nano', 1024, 1024, undefined, 1536],
    ['gpt-5.1-codex-mini', 1024, 1024, undefined, 1229],
    ['gpt-5.2', 1024, 1024, undefined, 1229],
    ['openai/gpt-5.4', 1600, 1600, 'high', 3000],
    ['gpt-5.4', 3200, 3200, 'original', 12_000],
    ['gpt-5.4-mini', 512, 3072, 'original', 1844],
  ])('%s pays for patches', (model, width, height, detail, tokens) => {
    expect(mediaTokens(image(width, height, detail), 'openai', model)).toBe(tokens);
  });

  it('is not misled by what scaling leaves over', () => {
    for (let short = 769; short <= 1024; short++) {
      expect(mediaTokens(image(short, 2 * short), 'openai', 'gpt-4o'), `${short}`).toBe(85 + 170 * 2 * 3);
    }
  });

  it('takes a model it does not know for the newest', () => {
    expect(mediaTokens(image(1024, 1024), 'openai', 'my-deployment')).toBe(1229);
    expect(mediaTokens(image(1024, 1024), 'openai')).toBe(1229);
  });
});

describe('image costs of others', () => {
  it('counts Claude in patches of 28 pixels, with the cap of its generation', () => {
    expect(mediaTokens(image(1000, 1000), 'anthropic', 'claude-sonnet-4-5')).toBe(1296);
    expect(mediaTokens(image(1000, 1000), 'anthropic', 'claude-opus-4-7')).toBe(1296);
    expect(mediaTokens(image(1920, 1080), 'anthropic', 'claude-opus-4-7')).toBe(69 * 39);
    for (const [model, most] of [
      ['claude-haiku-4-5', 1568],
      ['claude-opus-4-7', 4784],
    ] as const) {
      const tokens = mediaTokens(image(8000, 6000), 'anthropic', model);
      expect(tokens).toBeLessThanOrEqual(most);
      expect(tokens).toBeGreaterThan(most * 0.9);
    }
  });

  it('counts Gemini 2 in tiles and Gemini 3 by resolution', () => {
    expect(mediaTokens(image(384, 384), 'google', 'gemini-2.5-pro')).toBe(258);
    expect(mediaTokens(image(960, 540), 'google', 'gemini-2.5-pro')).toBe(6 * 258);
    expect(mediaTokens(image(1920, 1080), 'google', 'gemini-2.0-flash')).toBe(6 * 258);
    expect(mediaTokens(image(960, 540), 'google', 'gemini-3-pro-preview')).toBe(1120);
    expect(mediaTokens(image(960, 540), 'google')).toBe(1120);
    expect(mediaTokens(image(960, 540, 'MEDIA_RESOLUTION_LOW'), 'google', 'gemini-3-pro')).toBe(280);
    expect(mediaTokens(image(960, 540, 'medium'), 'google', 'gemini-3-pro')).toBe(560);
    expect(mediaTokens(image(960, 540, 'ultra_high'), 'google', 'gemini-3-pro')).toBe(2240);
  });

  it('goes by the name of the model before the family', () => {
    const screen = image(1920, 1080);
    expect(mediaTokens(screen, 'openai', 'anthropic/claude-opus-4.7')).toBe(mediaTokens(screen, 'anthropic', 'claude-opus-4-7'));
    expect(mediaTokens(screen, 'openai', 'google/gemini-2.5-pro')).toBe(6 * 258);
    expect(mediaTokens(screen, 'openai', 'qwen/qwen3-vl')).toBe(mediaTokens(screen, 'generic'));
  });
});

describe('mediaTokens', () => {
  it('B125, B127: the encoded length of an image changes nothing', () => {
    for (const family of families) {
      const small = mediaTokens({ ...file('image', 10_000), width: 1600, height: 1200 }, family);
      expect(mediaTokens({ ...file('image', 3_460_000), width: 1600, height: 1200 }, family)).toBe(small);
      expect(mediaTokens(file('image', 3_460_000), family)).toBe(mediaTokens(file('image'), family));
      expect(mediaTokens(file('image', 3_460_000), family)).toBeLessThanOrEqual(4784);
    }
  });

  it('B128: twenty images cost at least the floor each, and far more where their size is not known', () => {
    for (const family of families) {
      for (const part of [image(1, 1), image(16, 16), image(1, 100_000), file('image')]) {
        const total = Array.from({ length: 20 }, () => mediaTokens(part, family)).reduce((sum, tokens) => sum + tokens, 0);
        expect(total).toBeGreaterThanOrEqual(20 * imageTokenFloor);
      }
      expect(mediaTokens(file('image'), family)).toBeGreaterThanOrEqual(1000);
    }
  });

  it('takes a size that makes no sense for unknown', () => {
    for (const family of families) {
      for (const [width, height] of [
        [0, 100],
        [-5, 100],
        [Number.NaN, 100],
        [100, Number.POSITIVE_INFINITY],
        [0.5, 100],
        [1e9, 100],
      ] as const) {
        expect(mediaTokens(image(width, height), family)).toBe(mediaTokens(file('image'), family));
      }
    }
  });

  it('estimates documents by pages, within bounds', () => {
    expect(mediaTokens(file('document', 1), 'anthropic')).toBe(3000);
    expect(mediaTokens(file('document', 100_001), 'anthropic')).toBe(9000);
    expect(mediaTokens(file('document', 50_000_000), 'anthropic')).toBe(60_000);
    expect(mediaTokens(file('document'), 'openai')).toBe(15_000);
    expect(mediaTokens(file('document', 100_000), 'google')).toBe(1120);
  });

  it('estimates audio and video by seconds, within bounds', () => {
    expect(mediaTokens(file('audio', 160_000), 'openai')).toBe(320);
    expect(mediaTokens(file('audio'), 'google')).toBe(1920);
    expect(mediaTokens(file('audio', 1e12), 'google')).toBe(57_600);
    expect(mediaTokens(file('video', 2_500_000), 'google')).toBe(3000);
    expect(mediaTokens(file('video'), 'google')).toBe(18_000);
    expect(mediaTokens(file('video', 1e12), 'google')).toBe(54_000);
  });

  it('is a whole number above zero and bounded, whatever the part says', () => {
    const amount = fc.oneof(fc.double(), fc.nat(), fc.constantFrom(0, -1, 1e308, 5e-324, Number.NaN, Number.POSITIVE_INFINITY));
    const part = fc
      .record(
        {
          kind: fc.constantFrom<MediaPart['kind']>('image', 'audio', 'video', 'document'),
          width: amount,
          height: amount,
          bytes: amount,
          detail: fc.string(),
        },
        { requiredKeys: ['kind'] },
      )
      .map((fields): MediaPart => ({ type: 'media', value: null, ...fields }));
    const model = fc.constantFrom(
      undefined,
      '',
      'gpt-4o',
      'gpt-4o-mini',
      'gpt-5.4',
      'claude-opus-4-7',
      'claude-3-haiku',
      'gemini-2.5-pro',
      'qwen-vl',
    );
    fc.assert(
      fc.property(part, fc.constantFrom(...families), model, (media, family, name) => {
        const tokens = mediaTokens(media, family, name);
        return Number.isSafeInteger(tokens) && tokens >= 32 && tokens <= 60_000;
      }),
      { numRuns: 5000 },
    );
  });
});
