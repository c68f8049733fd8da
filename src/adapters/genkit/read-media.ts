import type { MediaPart } from '../../message.ts';
import { type Fields, fieldsOf, stringOf } from '../fields.ts';
import { describeMedia, inlineDataOfUrl, kindOfMimeType } from '../inline-media.ts';
import { withoutCacheMarkers } from './parts.ts';

/** An attachment. What stands behind a URL tells neither its size nor its bytes. */
export function readMedia(part: Fields): MediaPart {
  const { url, contentType } = fieldsOf(part.media);
  const kind = kindOfMedia(stringOf(contentType) || typeInUrl(stringOf(url)));
  return describeMedia(kind, withoutCacheMarkers(part), inlineDataOfUrl(url));
}

/** The type in the head of a data URL. */
function typeInUrl(url: string): string {
  return /^data:([^;,]{1,200})/.exec(url)?.[1] ?? '';
}

/** As the plugins do it: an attachment of no type is taken for an image. */
function kindOfMedia(contentType: string): MediaPart['kind'] {
  return contentType === '' ? 'image' : kindOfMimeType(contentType);
}
