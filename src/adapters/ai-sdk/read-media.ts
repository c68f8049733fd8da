import type { MediaPart } from '../../message.ts';
import { type Fields, stringOf } from '../fields.ts';
import { describeMedia, inlineData, kindOfMimeType } from '../inline-media.ts';
import { optionOf, withoutCacheMarkers } from './provider-options.ts';

/** Attachments in messages and in what tools return. */
const mediaTypes: ReadonlySet<unknown> = new Set([
  'file',
  'file-data',
  'file-url',
  'file-id',
  'image-data',
  'image-url',
  'image-file-id',
]);

/** An attachment, or undefined where the part is none. What stands behind a URL or an id tells neither size nor bytes. */
export function readMedia(part: Fields): MediaPart | undefined {
  if (!mediaTypes.has(part.type)) return undefined;
  const kind = kindOf(part);
  const media = describeMedia(kind, withoutCacheMarkers(part), isAddress(part.data) ? '' : inlineData(part.data));
  if (kind !== 'image') return media;
  const detail = optionOf(part.providerOptions, 'imageDetail');
  if (typeof detail === 'string') media.detail = detail;
  return media;
}

function kindOf({ type, mediaType }: Fields): MediaPart['kind'] {
  return stringOf(type).startsWith('image-') ? 'image' : kindOfMimeType(stringOf(mediaType));
}

function isAddress(data: unknown): boolean {
  return /^https?:/i.test(stringOf(data));
}
