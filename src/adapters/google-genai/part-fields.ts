import type { NativePart } from '../../message.ts';
import { type Fields, isNothing, isRecord } from '../fields.ts';
import { sdkName } from './field-names.ts';

/**
 * What a part has beside what it says, such as its thought signature: an opaque part right behind the neutral one, so that a text signed
 * otherwise is another content.
 */
export interface PartFields {
  partFields: Fields;
  /** Whose they are: the text before, a thought, or the call of this id. */
  of: 'text' | 'thought' | { call: string };
}

/** None where the part has nothing beside the fields that are named. */
export function readPartFields(part: Fields, of: PartFields['of'], read: readonly string[]): NativePart[] {
  const rest = Object.entries(part).filter(([key, value]) => !read.includes(sdkName(key)) && !isNothing(value));
  if (rest.length === 0) return [];
  const value: PartFields = { partFields: Object.fromEntries(rest), of };
  return [{ type: 'native', value }];
}

export function isPartFields(value: unknown): value is PartFields {
  return isRecord(value) && isRecord(value.partFields) && 'of' in value;
}
