import { checkNames } from '../../check-options.ts';
import { CompactionError } from '../../errors.ts';

export interface Expectation {
  holds: (value: unknown) => boolean;
  /** For instance `a function`. */
  is: string;
}

/**
 * @throws CompactionError `invalid-options`, naming the option and what was expected. Its value is not shown: it may be a secret.
 */
export function checkStoreOptions(options: unknown, expectations: Readonly<Record<string, Expectation>>): void {
  if (typeof options !== 'object' || options === null)
    throw new CompactionError('invalid-options', 'Expected options to be an object.');
  checkNames(options, Object.keys(expectations));
  for (const [name, { holds, is }] of Object.entries(expectations))
    if (!holds(Reflect.get(options, name))) throw new CompactionError('invalid-options', `Expected \`${name}\` to be ${is}.`);
}
