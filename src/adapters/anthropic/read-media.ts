import { utf8Length } from '../../budget/token-counter.ts';
import type { MediaPart } from '../../message.ts';
import { type Fields, fieldsOf, isRecord, listOf, stringOf } from '../fields.ts';
import { decodedLength, describeMedia } from '../inline-media.ts';
import { withoutCacheMarker } from './blocks.ts';

/** An `image` or `document` block. A file or URL source tells neither size nor bytes. */
export function readMedia(block: Fields, kind: 'image' | 'document'): MediaPart {
  const source = fieldsOf(block.source);
  const media = describeMedia(kind, withoutCacheMarker(block), source.type === 'base64' ? stringOf(source.data) : '');
  const bytes = countText(source);
  if (bytes !== undefined) media.bytes = bytes;
  return media;
}

/** A document may be text, or blocks. */
function countText({ type, data, content }: Fields): number | undefined {
  if (type === 'text' && typeof data === 'string') return utf8Length(data);
  if (type !== 'content') return undefined;
  return typeof content === 'string'
    ? utf8Length(content)
    : listOf(content).reduce<number>((sum, block) => sum + bytesOfBlock(block), 0);
}

function bytesOfBlock(block: unknown): number {
  if (!isRecord(block)) return 0;
  if (typeof block.text === 'string') return utf8Length(block.text);
  const source = fieldsOf(block.source);
  return source.type === 'base64' ? decodedLength(stringOf(source.data)) : 0;
}
