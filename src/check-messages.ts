import { CompactionError } from './errors.ts';
import type { Message, Role } from './message.ts';

const roles: ReadonlySet<unknown> = new Set<Role>(['system', 'user', 'assistant', 'tool']);

/** True for a neutral message: what comes from outside may be anything. */
export function isMessage(value: unknown): value is Message {
  return isRecord(value) && roles.has(value.role) && Array.isArray(value.parts) && value.parts.every(isPart);
}

/**
 * @throws CompactionError `invalid-request`, naming the first that is no neutral message.
 */
export function checkMessages(messages: readonly unknown[]): void {
  messages.forEach((message, index) => {
    if (isMessage(message)) return;
    const got = isRecord(message) ? `an object with the role ${String(message.role)}` : String(message);
    throw new CompactionError('invalid-request', `Expected \`messages[${index}]\` to have a role and parts, got ${got}.`);
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
