import * as z from 'zod/mini';
import { CompactionError } from '../errors.ts';

/**
 * @throws CompactionError `invalid-options`, naming the option and what was expected.
 */
export function checkSessionOptions(options: unknown): void {
  const issue = z.safeParse(buildSchema(), options).error?.issues[0];
  if (!issue) return;
  const message =
    issue.code === 'unrecognized_keys'
      ? `Expected known options only, but there is no option \`${issue.keys[0]}\`.`
      : `Expected \`${issue.path.join('.') || 'options'}\` to be ${issue.message}.`;
  throw new CompactionError('invalid-options', message);
}

// Built on demand, so that importing the package builds nothing.
function buildSchema(): z.ZodMiniType {
  const custom = (test: (value: unknown) => boolean, expectation: string) => z.custom<unknown>(test, expectation);
  return z.strictObject(
    {
      store: custom(isStore, 'a session store, for instance `memoryStore()`'),
      id: custom((value) => typeof value === 'string' && value !== '', 'a text that is not empty'),
      retainOutput: z.optional(custom((value) => typeof value === 'function', 'a function')),
    },
    'an object',
  );
}

function isStore(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return ['load', 'append', 'appendBatch'].every((name) => typeof Reflect.get(value, name) === 'function');
}
