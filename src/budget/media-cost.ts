import type { TokenFamily } from '../adapters/adapter.ts';
import type { MediaPart } from '../message.ts';
import type { ImageSize } from './image-size.ts';
import { isClaude47OrLater, makerOf, normalizeModelName } from './model-name.ts';

/** No image costs less, whatever a formula says. B128. */
export const imageTokenFloor = 64;

/** An image whose size is not known is taken for a full screen. */
const unknownSize: ImageSize = { width: 1920, height: 1080 };

function scaleToFit({ width, height }: ImageSize, longSide: number, shortSide: number): ImageSize {
  const scale = Math.min(1, longSide / Math.max(width, height), shortSide / Math.min(width, height));
  return { width: width * scale, height: height * scale };
}

/** Squares that cover a length given in squares; a hair above a whole number is what scaling left over. */
function cover(squares: number): number {
  return Math.ceil(squares - 1e-6);
}

/** Squares of `side` pixels that cover an image, after it was scaled down to at most `most` of them. A provider rule. */
function countPatches({ width, height }: ImageSize, side: number, most: number): number {
  const columns = width / side;
  const rows = height / side;
  const patches = cover(columns) * cover(rows);
  if (patches <= most) return patches;
  const shrink = Math.sqrt(most / (columns * rows));
  // Shrunk further until one of the sides is a whole number of squares.
  const whole = (squares: number) => Math.max(1, Math.floor(squares)) / squares;
  const fit = shrink * Math.min(1, whole(columns * shrink), whole(rows * shrink));
  return Math.min(most, cover(columns * fit) * cover(rows * fit));
}

type OpenAIPrice = { base: number; tile: number } | { patch: number };

/** Tokens of an image by model, as billed. The first match counts. Provider rules; the billed figures where the guide differs. */
const openAIPrices: readonly (readonly [RegExp, OpenAIPrice])[] = [
  [/gpt-4o-mini/, { base: 2833, tile: 5667 }],
  [/gpt-4\.1-mini/, { patch: 1.62 }],
  [/gpt-4\.1-nano/, { patch: 2.46 }],
  [/gpt-4/, { base: 85, tile: 170 }],
  [/o4-mini|(?:^|\/)codex-mini/, { patch: 1.72 }],
  [/gpt-5-nano/, { patch: 1.5 }],
  [/gpt-5.*(?:mini|nano)/, { patch: 1.2 }],
  [/gpt-5(?:\.1)?(?![.\d])/, { base: 70, tile: 140 }],
  [/(?:^|[^a-z0-9])o[13](?![a-z0-9])/, { base: 75, tile: 150 }],
  [/computer-use/, { base: 65, tile: 129 }],
];
const newestOpenAIPrice: OpenAIPrice = { patch: 1.2 };

function openAIPatchLimit(model: string, detail: string): number {
  if (!/gpt-(?:5\.(?:[4-9]|\d\d)|[6-9])/.test(model) || /mini|nano/.test(model)) return 1536;
  return detail === 'original' ? 10_000 : 2500;
}

function openAIImage(size: ImageSize, model: string, detail: string): number {
  const price = openAIPrices.find(([pattern]) => pattern.test(model))?.[1] ?? newestOpenAIPrice;
  // `low` is heard by the tiled models only.
  if ('patch' in price) return price.patch * countPatches(size, 32, openAIPatchLimit(model, detail));
  if (detail === 'low') return price.base;
  const { width, height } = scaleToFit(size, 2048, 768);
  return price.base + price.tile * cover(width / 512) * cover(height / 512);
}

function claudeImage(size: ImageSize, model: string): number {
  const [longSide, most] = isClaude47OrLater(model) ? ([2576, 4784] as const) : ([1568, 1568] as const);
  return countPatches(scaleToFit(size, longSide, longSide), 28, most);
}

function geminiImage(size: ImageSize, model: string, detail: string): number {
  const generation = Number(/gemini-(\d+)/.exec(model)?.[1] ?? 3);
  if (generation >= 3) {
    if (detail.includes('ultra')) return 2240;
    if (detail.includes('medium')) return 560;
    return detail.includes('low') ? 280 : 1120;
  }
  const { width, height } = scaleToFit(size, 3072, 3072);
  if (Math.max(width, height) <= 384) return 258;
  const side = Math.min(768, Math.max(256, Math.floor(Math.min(width, height) / 1.5)));
  return 258 * cover(width / side) * cover(height / side);
}

/** False for what no image has: broken headers and odd numbers stay outside the formulas. */
function isSide(pixels: number): boolean {
  return pixels >= 1 && pixels <= 1_000_000;
}

function imageTokens(part: MediaPart, family: TokenFamily, model: string): number {
  const { width = 0, height = 0 } = part;
  const size = isSide(width) && isSide(height) ? { width, height } : unknownSize;
  const detail = (part.detail ?? '').toLowerCase();
  const maker = makerOf(model) ?? family;
  if (maker === 'openai') return openAIImage(size, model, detail);
  if (maker === 'anthropic') return claudeImage(size, model);
  if (maker === 'google') return geminiImage(size, model, detail);
  // Most open vision models see patches of 28 pixels, too.
  return countPatches(size, 28, 4784);
}

/** Pages of a document and seconds of a recording, guessed from the size of the file. */
interface FileRate {
  bytesPerUnit: number;
  tokensPerUnit: number;
  unknownUnits: number;
  mostUnits: number;
}

const fileRates: Record<Exclude<MediaPart['kind'], 'image'>, FileRate> = {
  document: { bytesPerUnit: 50_000, tokensPerUnit: 3000, unknownUnits: 5, mostUnits: 20 },
  audio: { bytesPerUnit: 16_000, tokensPerUnit: 32, unknownUnits: 60, mostUnits: 1800 },
  video: { bytesPerUnit: 250_000, tokensPerUnit: 300, unknownUnits: 60, mostUnits: 180 },
};
/** Gemini sees a page as one picture and has the text for free. */
const geminiPageTokens = 560;

/**
 * Estimated tokens of an attachment: always more than 0, and bounded however large the file.
 *
 * - Images cost what the provider's formula says for their size in pixels, their `detail` and the model, at least `imageTokenFloor`
 *   (64); a size that is not known counts as 1920 x 1080. The encoded length plays no part. B125, B127.
 * - Documents: a page for every 50 kB, 3,000 tokens a page (text and picture; Gemini 560), 1 to 20 pages, 5 where the size is unknown.
 * - Audio: 32 tokens a second, a second for every 16 kB, at most half an hour; a minute where the size is unknown.
 * - Video: 300 tokens a second, a second for every 250 kB, at most three minutes; one minute where the size is unknown.
 *
 * @param family - Decides where the model's name does not.
 *
 * @example
 * mediaTokens({ type: 'media', kind: 'image', width: 1024, height: 1024, value: null }, 'openai', 'gpt-4o'); // 765
 */
export function mediaTokens(part: MediaPart, family: TokenFamily, model?: string): number {
  const name = normalizeModelName(model);
  if (part.kind === 'image') return Math.max(imageTokenFloor, Math.ceil(imageTokens(part, family, name)));
  const rate = fileRates[part.kind];
  const isGemini = (makerOf(name) ?? family) === 'google';
  const tokensPerUnit = part.kind === 'document' && isGemini ? geminiPageTokens : rate.tokensPerUnit;
  const { bytes = 0 } = part;
  const units = bytes > 0 ? Math.max(1, Math.ceil(bytes / rate.bytesPerUnit)) : rate.unknownUnits;
  return tokensPerUnit * Math.min(units, rate.mostUnits);
}
