import { readImageSize } from '../../budget/image-size.ts';
import { utf8Length } from '../../budget/token-counter.ts';
import type { MediaPart } from '../../message.ts';
import { type Fields, isRecord, withoutCacheMarker } from './blocks.ts';

/** An `image` or `document` block. A file or URL source tells neither size nor bytes. */
export function readMedia(block: Fields, kind: 'image' | 'document'): MediaPart {
  const part: MediaPart = { type: 'media', kind, value: withoutCacheMarker(block) };
  const source = isRecord(block.source) ? block.source : {};
  const bytes = countBytes(source);
  if (bytes !== undefined) part.bytes = bytes;
  const size = kind === 'image' && typeof source.data === 'string' ? readImageSize(source.data) : undefined;
  return size ? { ...part, width: size.width, height: size.height } : part;
}

function countBytes(source: Fields): number | undefined {
  if (source.type === 'base64' && typeof source.data === 'string') return decodedLength(source.data);
  if (source.type === 'text' && typeof source.data === 'string') return utf8Length(source.data);
  if (source.type !== 'content') return undefined;
  if (typeof source.content === 'string') return utf8Length(source.content);
  const blocks: readonly unknown[] = Array.isArray(source.content) ? source.content : [];
  return blocks.reduce<number>((sum, block) => sum + bytesOfBlock(block), 0);
}

function bytesOfBlock(block: unknown): number {
  if (!isRecord(block)) return 0;
  if (typeof block.text === 'string') return utf8Length(block.text);
  return (isRecord(block.source) && block.source.type === 'base64' && countBytes(block.source)) || 0;
}

function decodedLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
}
