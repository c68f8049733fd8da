import { CompactionError } from '../errors.ts';

/** A request that cannot be read. */
export function invalidRequest(provider: string, message: string): CompactionError {
  return new CompactionError('invalid-request', message, { provider });
}

/** A field of a request that cannot be read. */
export function invalidField(provider: string, name: string, expected: string, value: unknown): CompactionError {
  return invalidRequest(provider, `Expected \`${name}\` to be ${expected}, got ${describeValue(value)}.`);
}

/** Where other shapes have their conversations. */
const adaptersByField = { messages: 'openaiChat()', input: 'openaiResponses()', contents: 'geminiContents()' } as const;

/**
 * For a request without a conversation, which may be one for another adapter.
 *
 * @throws CompactionError `invalid-request`
 */
export function refuseOtherShape(provider: string, expected: keyof typeof adaptersByField, request: object): void {
  for (const [field, adapter] of Object.entries(adaptersByField))
    if (field in request && field !== expected)
      throw invalidRequest(provider, `Expected \`${expected}\`; this request has \`${field}\`: is it for \`${adapter}\`?`);
}

/** A reply that cannot be read. It is told by its outside: what is in it is nobody's business. */
export function invalidReply(provider: string, expected: string, reply: unknown): CompactionError {
  return invalidRequest(provider, `Expected \`send\` to give back ${expected}, got ${describeReply(reply)}.`);
}

/** An odd value in a few words. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  return Array.isArray(value) ? 'an array' : typeof value;
}

function describeReply(reply: unknown): string {
  if (typeof reply !== 'object' || reply === null) return typeof reply === 'string' ? 'a text' : String(reply);
  return `an object with the fields ${fieldNames(reply)}`;
}

/** The first names of the fields of an object. */
export function fieldNames(value: object): string {
  return Object.keys(value).slice(0, 5).join(', ') || '(none)';
}
