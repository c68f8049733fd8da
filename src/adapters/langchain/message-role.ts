import type { Role } from '../../message.ts';
import { isRecord, stringOf } from '../fields.ts';

/** Types of instances, and roles of plain messages. */
const roles: ReadonlyMap<string, Role> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['human', 'user'],
  ['user', 'user'],
  ['ai', 'assistant'],
  ['assistant', 'assistant'],
  ['tool', 'tool'],
]);

/** What a message calls itself; the empty string for what is no message. */
export function kindOf(message: unknown): string {
  if (!isRecord(message)) return '';
  const { type, role, _getType: getType } = message;
  // Older copies of the core have a method in place of the field. A `ChatMessage` is generic, and has a role.
  const kind = stringOf(type) || (typeof getType === 'function' ? stringOf(getType.call(message)) : '');
  return kind === 'generic' || kind === '' ? stringOf(role) || kind : kind;
}

/** Undefined for `function`, `remove`, and whatever else there may be. */
export function roleOf(message: unknown): Role | undefined {
  return roles.get(kindOf(message)) ?? (isRecord(message) ? roles.get(stringOf(message.role)) : undefined);
}
