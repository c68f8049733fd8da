import { isBytes } from '../../any-realm.ts';
import { utf8Length } from '../../budget/token-counter.ts';
import type { MediaPart } from '../../message.ts';
import type { Fields } from '../fields.ts';
import { describeMedia } from '../inline-media.ts';
import { memberOf, textOfBlock } from './blocks.ts';

const kinds = ['image', 'document', 'audio', 'video'] as const;

/** What kind of an attachment a block is; undefined for all others. */
export function mediaKindOf(block: unknown): MediaPart['kind'] | undefined {
  return kinds.find((kind) => memberOf(block, kind) !== undefined);
}

/** An attachment, or undefined where the block is none. What lies in S3 tells neither size nor bytes. */
export function readMedia(block: unknown): MediaPart | undefined {
  const kind = mediaKindOf(block);
  if (!kind) return undefined;
  const source = memberOf(memberOf(block, kind), 'source') ?? {};
  const media = describeMedia(kind, block, isBytes(source.bytes) ? source.bytes : '');
  const bytes = countText(source);
  if (bytes !== undefined) media.bytes = bytes;
  return media;
}

/** A document may be text. */
function countText({ bytes, text, content }: Fields): number | undefined {
  if (isBytes(bytes)) return undefined;
  if (typeof text === 'string') return utf8Length(text);
  if (!Array.isArray(content)) return undefined;
  return content.reduce<number>((sum, block) => sum + utf8Length(textOfBlock(block) ?? ''), 0);
}
