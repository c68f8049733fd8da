import { fieldsOf, stringOf } from './fields.ts';

/** The error that a reply holds, or an event of its stream. `classifyError` reads it from the cause. */
export function providerError(error: unknown, cause: unknown = error): Error {
  const reason = stringOf(error) || stringOf(fieldsOf(error).message) || 'no message';
  return new Error(`The provider answered with an error: ${reason}`, { cause });
}
