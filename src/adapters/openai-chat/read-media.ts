import type { MediaPart } from '../../message.ts';
import { type Fields, isRecord, stringOf } from '../fields.ts';
import { describeMedia, inlineData, inlineDataOfUrl } from '../inline-media.ts';

const kinds: ReadonlyMap<string, MediaPart['kind']> = new Map([
  ['image_url', 'image'],
  ['input_audio', 'audio'],
  ['file', 'document'],
  // Compatible servers
  ['video_url', 'video'],
]);

/** An attachment, or undefined where the content part is none. */
export function readMedia(part: Fields): MediaPart | undefined {
  const kind = kinds.get(stringOf(part.type));
  if (!kind) return undefined;
  const media = describeMedia(kind, part, dataIn(part));
  if (isRecord(part.image_url) && typeof part.image_url.detail === 'string') media.detail = part.image_url.detail;
  return media;
}

function dataIn({ image_url, video_url, input_audio, file }: Fields): Uint8Array | string {
  if (isRecord(input_audio)) return inlineData(input_audio.data);
  if (isRecord(file)) return inlineData(file.file_data);
  const source = image_url ?? video_url;
  return inlineDataOfUrl(isRecord(source) ? source.url : source);
}
