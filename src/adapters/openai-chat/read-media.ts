import { readImageSize } from '../../budget/image-size.ts';
import type { MediaPart } from '../../message.ts';
import { type Fields, isRecord, stringOf } from './fields.ts';

const kinds: ReadonlyMap<string, MediaPart['kind']> = new Map([
  ['image_url', 'image'],
  ['input_audio', 'audio'],
  ['file', 'document'],
  // Compatible servers
  ['video_url', 'video'],
]);

/** An attachment, or undefined where the content part is none. What stands behind a URL or an id tells neither size nor bytes. */
export function readMedia(part: Fields): MediaPart | undefined {
  const kind = kinds.get(stringOf(part.type));
  if (!kind) return undefined;
  const media: MediaPart = { type: 'media', kind, value: part };
  const data = inlineData(part);
  if (data !== undefined) media.bytes = decodedLength(data);
  if (kind !== 'image') return media;
  const size = data === undefined ? undefined : readImageSize(data);
  if (size) Object.assign(media, { width: size.width, height: size.height });
  if (isRecord(part.image_url) && typeof part.image_url.detail === 'string') media.detail = part.image_url.detail;
  return media;
}

/** The base64 of an attachment. */
function inlineData(part: Fields): string | undefined {
  if (isRecord(part.input_audio)) return stringOf(part.input_audio.data);
  const holder = part.image_url ?? part.video_url ?? part.file;
  const source = isRecord(holder) ? stringOf(holder.url ?? holder.file_data) : stringOf(holder);
  if (isRecord(part.file) && source !== '' && !source.startsWith('data:')) return source;
  if (!source.startsWith('data:')) return undefined;
  // The head of a data URL is short; a comma far behind belongs to something else.
  return source.slice(source.slice(0, 256).indexOf(',') + 1);
}

function decodedLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
}
