import { isRecord } from './fields.ts';
import { invalidField } from './invalid-request.ts';

/** What the messages of a shape must be for an adapter to read them. */
export interface MessageRules {
  provider: string;
  /** Where they stand in the request, for instance `messages`. */
  field: string;
  roles: readonly string[];
  /** What content should have been; undefined where it is as it must be. */
  expectContent?: (content: unknown, role: unknown) => string | undefined;
}

/** @throws CompactionError `invalid-request` that names the message. */
export function checkItems(items: unknown, { provider, field, roles, expectContent }: MessageRules): void {
  if (!Array.isArray(items)) throw invalidField(provider, field, 'an array', items);
  items.forEach((item: unknown, index) => {
    const name = `${field}[${index}]`;
    if (!isRecord(item)) throw invalidField(provider, name, 'an object', item);
    const { role } = item;
    if (typeof role !== 'string' || !roles.includes(role)) throw invalidField(provider, `${name}.role`, listRoles(roles), role);
    // Content that nobody has a rule for is not read here: it may throw, and the item is named where it is read.
    const expected = expectContent?.(item.content, role);
    if (expected !== undefined) throw invalidField(provider, `${name}.content`, expected, item.content);
  });
}

function listRoles(roles: readonly string[]): string {
  return `${roles.slice(0, -1).join(', ')} or ${roles.at(-1)}`;
}

/** Absent and null content happen in stored histories: such a turn is empty, and is left out of what is rebuilt. B039 */
export function isNoContent(content: unknown): content is null | undefined {
  return content === undefined || content === null;
}
