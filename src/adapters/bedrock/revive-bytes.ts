import { isBytes } from '../../any-realm.ts';
import { type Fields, isRecord } from '../fields.ts';
import { memberOf } from './blocks.ts';
import { mediaKindOf } from './read-media.ts';

/**
 * An attachment whose bytes went through JSON, as those of a stored snapshot do, with bytes again: the SDK sends what became of them
 * without an error. Any other block is the very same object.
 */
export function reviveBytes(block: Fields): Fields {
  const kind = mediaKindOf(block);
  const media = kind && memberOf(block, kind);
  const source = memberOf(media, 'source');
  if (!kind || !isRecord(source?.bytes) || isBytes(source.bytes)) return block;
  // A `Buffer` becomes `{ type: 'Buffer', data: […] }`, other bytes an object with their places as keys.
  const bytes = Array.isArray(source.bytes.data) ? source.bytes.data : Object.values(source.bytes);
  if (bytes.length === 0 || !bytes.every(isByte)) return block;
  return { ...block, [kind]: { ...media, source: { ...source, bytes: Uint8Array.from(bytes) } } };
}

function isByte(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255;
}
