import * as z from 'zod/mini';
import { CompactionError } from './errors.ts';

/** An option that may be absent. The expectation goes on from "to be". */
export function optional(test: (value: unknown) => boolean, expectation: string): z.ZodMiniOptional<z.ZodMiniCustom<unknown>> {
  return z.optional(z.custom<unknown>(test, expectation));
}

/** Kinds of options that many have. Made on demand, so that importing the package makes nothing. */
export function kinds(): Record<'fn' | 'flag' | 'text', z.ZodMiniOptional<z.ZodMiniCustom<unknown>>> {
  return {
    fn: optional((value) => typeof value === 'function', 'a function'),
    flag: optional((value) => typeof value === 'boolean', 'true or false'),
    text: optional((value) => typeof value === 'string' && value.trim() !== '', 'a text that is not blank'),
  };
}

/** For a group of options that is something else. */
export const groupError: { error: (issue: { code?: string | undefined }) => string | undefined } = {
  error: ({ code }) => (code === 'invalid_type' ? 'an object of options' : undefined),
};

/**
 * Checks a value that the host gives, by default its options.
 *
 * @throws CompactionError `invalid-options`, naming the option, its value and what was expected.
 */
export function checkOptions(schema: z.core.$ZodType, options: unknown, name = 'options'): void {
  const issue = z.safeParse(schema, options).error?.issues[0];
  if (!issue) return;
  // The value of an option that is not known is never shown: it may be a secret.
  const unknown = issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)].join('.') : undefined;
  const message = unknown
    ? `Expected known options only, but there is no option \`${unknown}\`.`
    : `Expected \`${nameOf(issue.path, name)}\` to be ${issue.message}, got ${show(options, issue.path)}.`;
  throw new CompactionError('invalid-options', message);
}

/**
 * Checks that nothing is misspelled where a group of options has no schema of its own.
 *
 * @throws CompactionError `invalid-options`
 */
export function checkNames(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new CompactionError('invalid-options', `Expected known options only, but there is no option \`${unknown}\`.`);
}

/** Options are known by their names, what is in a list by its place. */
function nameOf(path: readonly PropertyKey[], name: string): string {
  const [first, ...rest] = path;
  if (first === undefined) return name;
  return [typeof first === 'number' ? `${name}[${first}]` : String(first), ...rest].join('.');
}

/** The value of a known option at a path, short. Values of unknown ones are never shown: they may be secrets. */
function show(options: unknown, path: readonly PropertyKey[]): string {
  let value = options;
  for (const key of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}
