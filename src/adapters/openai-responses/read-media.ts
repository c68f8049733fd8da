import { readImageSize } from '../../budget/image-size.ts';
import type { MediaPart } from '../../message.ts';
import { type Fields, isRecord, stringOf } from '../openai-chat/fields.ts';

const kinds: ReadonlyMap<string, MediaPart['kind']> = new Map([
  ['input_image', 'image'],
  ['input_file', 'document'],
  ['input_audio', 'audio'],
]);

/** An attachment, or undefined where the content part is none. What stands behind a URL or an id tells neither size nor bytes. */
export function readMedia(part: Fields): MediaPart | undefined {
  const kind = kinds.get(stringOf(part.type));
  if (!kind) return undefined;
  if (kind === 'audio') return describe(kind, part, stringOf(isRecord(part.input_audio) ? part.input_audio.data : ''));
  if (kind === 'document') return describe(kind, part, encodedBytes(part.file_data));
  const media = describe(kind, part, inlineImage(part.image_url));
  if (typeof part.detail === 'string') media.detail = part.detail;
  return media;
}

/** An item that is little more than an image: the screenshot of a computer, an image that the model made. It is carried whole. */
export function readImageItem(item: Fields): MediaPart | undefined {
  if (item.type === 'image_generation_call' && stringOf(item.result) !== '')
    return describe('image', item, encodedBytes(item.result));
  if (item.type !== 'computer_call_output' || !isRecord(item.output)) return undefined;
  return describe('image', item, inlineImage(item.output.image_url));
}

function describe(kind: MediaPart['kind'], value: Fields, base64: string): MediaPart {
  const media: MediaPart = { type: 'media', kind, value };
  if (base64 === '') return media;
  media.bytes = decodedLength(base64);
  const size = kind === 'image' ? readImageSize(base64) : undefined;
  return size ? { ...media, width: size.width, height: size.height } : media;
}

function inlineImage(url: unknown): string {
  return stringOf(url).startsWith('data:') ? encodedBytes(url) : '';
}

/** The base64 of a data URL, or of a text that is nothing else. */
function encodedBytes(source: unknown): string {
  const text = stringOf(source);
  // The head of a data URL is short; a comma far behind belongs to something else.
  return text.startsWith('data:') ? text.slice(text.slice(0, 256).indexOf(',') + 1) : text;
}

function decodedLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
}
