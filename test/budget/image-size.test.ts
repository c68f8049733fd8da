import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readImageSize } from '../../src/budget/image-size.ts';

const ascii = (text: string) => [...text].map((character) => character.charCodeAt(0));
const u16 = (value: number) => [value >> 8, value & 0xff];
const u32 = (value: number) => [...u16(value >>> 16), ...u16(value & 0xffff)];
const reversed = (bytes: number[]) => bytes.toReversed();
const base64 = (bytes: number[]) => Buffer.from(bytes).toString('base64');

const png = (width: number, height: number) => [
  0x89,
  ...ascii('PNG\r\n\x1a\n'),
  ...u32(13),
  ...ascii('IHDR'),
  ...u32(width),
  ...u32(height),
  8,
  6,
  0,
  0,
  0,
];
const gif = (width: number, height: number) => [...ascii('GIF89a'), ...reversed(u16(width)), ...reversed(u16(height)), 0, 0, 0];
const riff = (format: string, body: number[]) => [
  ...ascii('RIFF'),
  0,
  0,
  0,
  0,
  ...ascii('WEBP'),
  ...ascii(format),
  0,
  0,
  0,
  0,
  ...body,
];
const vp8 = (width: number, height: number) =>
  riff('VP8 ', [0, 0, 0, 0x9d, 0x01, 0x2a, ...reversed(u16(width)), ...reversed(u16(height))]);
const vp8l = (width: number, height: number) =>
  riff('VP8L', [0x2f, ...reversed(u32((width - 1) | ((height - 1) << 14))), 0, 0, 0, 0, 0]);
const vp8x = (width: number, height: number) =>
  riff('VP8X', [0, 0, 0, 0, ...reversed(u32(width - 1)).slice(0, 3), ...reversed(u32(height - 1)).slice(0, 3)]);
const segment = (marker: number, length: number) => [0xff, marker, ...u16(length), ...new Array<number>(length - 2).fill(0xff)];
const jpeg = (width: number, height: number, before: number[] = segment(0xe0, 16)) => [
  0xff,
  0xd8,
  ...before,
  0xff,
  0xc2,
  ...u16(17),
  8,
  ...u16(height),
  ...u16(width),
  3,
  1,
  2,
  3,
  4,
  5,
  6,
  7,
  8,
  9,
];

const formats = { png, gif, vp8, vp8l, vp8x, jpeg };

describe('readImageSize', () => {
  it.each(Object.entries(formats))('reads %s from base64 and from bytes', (_name, write) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 16_000 }), fc.integer({ min: 1, max: 16_000 }), (width, height) => {
        const bytes = write(width, height);
        expect(readImageSize(base64(bytes))).toEqual({ width, height });
        expect(readImageSize(Uint8Array.from([0, 0, 0, ...bytes]).subarray(3))).toEqual({ width, height });
      }),
      { numRuns: 50 },
    );
  });

  it('reads real files', () => {
    expect(
      readImageSize('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
    ).toEqual({ width: 1, height: 1 });
    expect(readImageSize('R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==')).toEqual({ width: 1, height: 1 });
    expect(readImageSize('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA')).toEqual({ width: 1, height: 1 });
    expect(readImageSize('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==')).toEqual({ width: 1, height: 1 });
    expect(
      readImageSize(
        'UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7mtQAAAA==',
      ),
    ).toEqual({ width: 1, height: 1 });
  });

  it('finds the size of a photo behind large metadata', () => {
    const metadata = [
      ...segment(0xe1, 65_535),
      ...segment(0xe2, 65_535),
      0xff,
      0xff,
      ...segment(0xed, 40_000),
      0xff,
      0x01,
      ...segment(0xc4, 40),
    ];
    expect(readImageSize(base64(jpeg(4032, 3024, metadata)))).toEqual({ width: 4032, height: 3024 });
  });

  it('reads data URLs, the URL alphabet and base64 that is broken into lines', () => {
    const encoded = base64(png(640, 480));
    expect(readImageSize(`data:image/png;base64,${encoded}`)).toEqual({ width: 640, height: 480 });
    expect(readImageSize(`data:image/png;name=a.png;base64,${encoded}`)).toEqual({ width: 640, height: 480 });
    expect(readImageSize(encoded.replace(/.{16}/g, '$&\r\n'))).toEqual({ width: 640, height: 480 });
    const urlSafe = Buffer.from(jpeg(300, 200, segment(0xe0, 900))).toString('base64url');
    expect(urlSafe).toMatch(/[-_]/);
    expect(readImageSize(urlSafe)).toEqual({ width: 300, height: 200 });
  });

  it('does not know what is no image, has no size or stops too early', () => {
    const svg = 'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22/%3E';
    for (const text of [
      '',
      'x',
      '%%%',
      svg,
      'data:',
      'https://example.com/a.png',
      base64(ascii('%PDF-1.7 and more than thirty bytes of it')),
    ]) {
      expect(readImageSize(text)).toBeUndefined();
    }
    expect(readImageSize(base64(png(0, 5)))).toBeUndefined();
    expect(readImageSize(base64(jpeg(5, 0)))).toBeUndefined();
    expect(readImageSize(base64(png(5, 5).slice(0, 20)))).toBeUndefined();
    expect(
      readImageSize(base64([0xff, 0xd8, ...segment(0xe0, 16), 0xff, 0xda, ...new Array<number>(50).fill(0)])),
    ).toBeUndefined();
  });

  it('never throws, whatever it is given', () => {
    const heads = Object.values(formats).map((write) => write(100, 100));
    const damaged = fc
      .tuple(fc.constantFrom(...heads), fc.nat(60), fc.array(fc.nat(255), { maxLength: 60 }))
      .map(([head, kept, rest]) => Uint8Array.from([...head.slice(0, kept), ...rest]));
    fc.assert(
      fc.property(fc.oneof(damaged, fc.uint8Array(), fc.string(), fc.base64String()), (data) => {
        for (const input of typeof data === 'string' ? [data] : [data, Buffer.from(data).toString('base64')]) {
          const size = readImageSize(input);
          if (size) expect(size.width > 0 && size.height > 0).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('ends on a JPEG without an end, and on ten megabytes', () => {
    expect(readImageSize(new Uint8Array(1_000_000).fill(0xff).fill(0xd8, 1, 2))).toBeUndefined();
    expect(readImageSize(base64(png(9, 9)) + 'A'.repeat(10_000_000))).toEqual({ width: 9, height: 9 });
    expect(readImageSize(' '.repeat(10_000_000))).toBeUndefined();
  });
});
