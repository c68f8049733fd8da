import { isBytes } from '../any-realm.ts';
import { readImageSize } from '../budget/image-size.ts';
import type { MediaPart } from '../message.ts';
import { stringOf } from './fields.ts';

/** An attachment with the sizes that its bytes, or their base64, tell. Nothing: what stands behind a URL or an id tells none. */
export function describeMedia(kind: MediaPart['kind'], value: unknown, data: Uint8Array | string): MediaPart {
  const media: MediaPart = { type: 'media', kind, value };
  if (data.length === 0) return media;
  media.bytes = typeof data === 'string' ? decodedLength(data) : data.byteLength;
  const size = kind === 'image' ? readImageSize(data) : undefined;
  return size ? { ...media, width: size.width, height: size.height } : media;
}

/** What a type such as `image/png` is of; a document where it is none of these. */
export function kindOfMimeType(type: string): MediaPart['kind'] {
  const [kind] = type.toLowerCase().split('/', 1);
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}

/** Bytes as they are; the base64 of a data URL, or of a text that is nothing else; empty for all else. */
export function inlineData(source: unknown): Uint8Array | string {
  if (isBytes(source)) return source;
  const text = stringOf(source);
  // The head of a data URL is short; a comma far behind belongs to something else.
  return text.startsWith('data:') ? text.slice(text.slice(0, 256).indexOf(',') + 1) : text;
}

/** The base64 of a data URL; empty for any other URL. */
export function inlineDataOfUrl(url: unknown): Uint8Array | string {
  return stringOf(url).startsWith('data:') ? inlineData(url) : '';
}

/** How many bytes a base64 text stands for. */
export function decodedLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}
