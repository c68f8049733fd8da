import type { MediaPart } from '../../message.ts';
import { type Fields, stringOf } from '../fields.ts';
import { describeMedia, kindOfMimeType } from '../inline-media.ts';
import { fieldOf, recordOf } from './field-names.ts';

/** An attachment, inline or by its address, or undefined where the part is none. An address tells neither size nor bytes. */
export function readMedia(part: Fields): MediaPart | undefined {
  const inline = recordOf(part, 'inlineData');
  const source = inline ?? recordOf(part, 'fileData');
  if (!source) return undefined;
  const kind = kindOfMimeType(stringOf(fieldOf(source, 'mimeType')));
  const media = describeMedia(kind, part, stringOf(inline?.data));
  if (kind !== 'image') return media;
  const detail = readDetail(fieldOf(part, 'mediaResolution'));
  if (detail !== '') media.detail = detail;
  return media;
}

/** `MEDIA_RESOLUTION_HIGH` and its like, by itself or as a `level`. */
function readDetail(resolution: unknown): string {
  if (typeof resolution !== 'object' || resolution === null) return stringOf(resolution);
  return 'level' in resolution ? stringOf(resolution.level) : '';
}
