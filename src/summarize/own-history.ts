import { CompactionError } from '../errors.ts';

/**
 * What the server alone holds would be left out, unseen.
 *
 * @param held the field of the request that names it, where there is one.
 * @throws CompactionError `invalid-request`
 */
export function requireOwnHistory(held: string | undefined): void {
  if (held !== undefined)
    throw new CompactionError('invalid-request', `Expected a history that the request holds, but it is the server's: ${held}.`);
}
