import { utf8Length } from '../../budget/token-counter.ts';
import type { MediaPart } from '../../message.ts';
import { type Fields, isRecord, stringOf } from '../fields.ts';
import { describeMedia, inlineData, inlineDataOfUrl, kindOfMimeType } from '../inline-media.ts';

/** Attachments of LangChain itself, and of the providers whose own blocks its packages take. */
const kinds: ReadonlyMap<string, MediaPart['kind']> = new Map([
  ['image', 'image'],
  ['image_url', 'image'],
  ['input_image', 'image'],
  ['audio', 'audio'],
  ['input_audio', 'audio'],
  ['video', 'video'],
  ['video_url', 'video'],
  ['file', 'document'],
  ['input_file', 'document'],
  ['document', 'document'],
  ['text-plain', 'document'],
  ['media', 'document'],
]);

/** Under these keys a block has what it holds, or another object that does. */
const holders = ['source', 'image', 'document', 'video', 'audio', 'file', 'image_url', 'video_url', 'input_audio'];
const sources = ['data', 'bytes', 'url', 'file_data', 'image_url', 'video_url'];

/** An attachment, or undefined where the block is none. What stands behind a URL or an id tells neither size nor bytes. */
export function readMedia(block: Fields): MediaPart | undefined {
  const kind = kindOfMedia(block);
  if (!kind) return undefined;
  const places = placesOf(block);
  const data = places.flatMap((place) => sources.map((key) => dataIn(place, key))).find(({ length }) => length > 0);
  const text = places.map((place) => place.text).find((found) => typeof found === 'string');
  const media = describeMedia(kind, block, data ?? '');
  if (data === undefined && typeof text === 'string') media.bytes = utf8Length(text);
  if (kind !== 'image') return media;
  const detail = places.map((place) => place.detail).find((found) => typeof found === 'string');
  if (typeof detail === 'string') media.detail = detail;
  return media;
}

/** The type of the data says more than that of the block: files may be images. */
function kindOfMedia({ type, mimeType, mime_type }: Fields): MediaPart['kind'] | undefined {
  const known = kinds.get(stringOf(type));
  return known === 'document' ? kindOfMimeType(stringOf(mimeType) || stringOf(mime_type)) : known;
}

/** The block, what it holds, and what that holds: Bedrock puts bytes in a source in an image. */
function placesOf(block: Fields): Fields[] {
  const held = heldBy(block);
  return [block, ...held, ...held.flatMap(heldBy), ...(isRecord(block.metadata) ? [block.metadata] : [])];
}

function heldBy(place: Fields): Fields[] {
  return holders.map((key) => place[key]).filter(isRecord);
}

/** A text under another key is inline only where it is a data URL. */
function dataIn(place: Fields, key: string): Uint8Array | string {
  const source = place[key];
  return typeof source !== 'string' || key === 'data' || key === 'file_data' ? inlineData(source) : inlineDataOfUrl(source);
}
