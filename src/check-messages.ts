import { CompactionError } from './errors.ts';
import type { Role } from './message.ts';

const roles: ReadonlySet<unknown> = new Set<Role>(['system', 'user', 'assistant', 'tool']);

/**
 * Checks messages that come from outside.
 *
 * @throws CompactionError `invalid-request`, naming the first that is none.
 */
export function checkMessages(messages: readonly unknown[]): void {
  messages.forEach((message, index) => {
    const { role, parts } = isRecord(message) ? message : {};
    if (!roles.has(role) || !Array.isArray(parts) || !parts.every(isPart))
      throw new CompactionError(
        'invalid-request',
        `Expected \`messages[${index}]\` to be a neutral message with a role and parts, got ${isRecord(message) ? `role ${String(role)}` : String(message)}.`,
      );
  });
}

function isPart(part: unknown): boolean {
  if (!isRecord(part)) return false;
  if (part.type === 'text' || part.type === 'reasoning') return typeof part.text === 'string';
  if (part.type === 'toolCall') return typeof part.id === 'string' && typeof part.name === 'string';
  if (part.type === 'toolResult')
    return typeof part.callId === 'string' && Array.isArray(part.content) && part.content.every(isPart);
  return part.type === 'media' || part.type === 'native';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
