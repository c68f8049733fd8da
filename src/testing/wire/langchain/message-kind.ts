import { isRecord } from '../report.ts';

export type Kind = 'system' | 'human' | 'ai' | 'tool';

const kinds: ReadonlyMap<unknown, Kind> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['human', 'human'],
  ['user', 'human'],
  ['ai', 'ai'],
  ['assistant', 'ai'],
  ['tool', 'tool'],
]);

/** By the type of an instance, or the role of a plain message; undefined for what no package takes. */
export function kindOf(message: unknown): Kind | undefined {
  return isRecord(message) ? (kinds.get(message.type) ?? kinds.get(message.role)) : undefined;
}
