import { isRecord } from '../adapters/fields.ts';
import { CompactionError } from '../errors.ts';

/**
 * For what knows by itself how to send, or of which shape requests are.
 *
 * @throws CompactionError `invalid-options` where there are no options, or one of these names.
 */
export function refuseOptions(options: unknown, names: readonly string[]): void {
  if (!isRecord(options))
    throw new CompactionError('invalid-options', `Expected options, got ${options === null ? 'null' : typeof options}.`);
  for (const name of names)
    if (options[name] !== undefined)
      throw new CompactionError(
        'invalid-options',
        `Expected no \`${name}\`: this has its own. For summaries there is \`summary.send\`.`,
      );
}
