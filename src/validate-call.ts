import * as z from 'zod/mini';
import { checkOptions, groupError, kinds, optional } from './check-options.ts';

/**
 * Checks the options of one request that is checked, prepared or fitted.
 *
 * @throws CompactionError `invalid-options`
 */
export function validateCheck(options: unknown): void {
  checkSchema ??= buildCheckSchema();
  checkOptions(checkSchema, options);
}

/**
 * Checks the options of one request of a loop.
 *
 * @throws CompactionError `invalid-options`
 */
export function validateLoopRequest(options: unknown): void {
  loopSchema ??= buildLoopSchema();
  checkOptions(loopSchema, options);
}

/**
 * Checks how a compaction by hand is asked for.
 *
 * @throws CompactionError `invalid-options`
 */
export function validateManual(options: unknown): void {
  manualSchema ??= buildManualSchema();
  checkOptions(manualSchema, options);
}

let checkSchema: ReturnType<typeof buildCheckSchema> | undefined;
let loopSchema: ReturnType<typeof buildLoopSchema> | undefined;
let manualSchema: ReturnType<typeof buildManualSchema> | undefined;

function buildCheckSchema() {
  const { fn, flag } = kinds();
  const conversation = optional((value) => typeof value === 'string', 'a text');
  return z.strictObject({ signal: signal(), oneShot: flag, conversation, send: fn }, groupError);
}

function buildLoopSchema() {
  const params = optional((value) => typeof value === 'object' && value !== null, 'an object with fields of the request');
  return z.strictObject({ signal: signal(), params, oneShot: kinds().flag }, groupError);
}

function buildManualSchema() {
  const { fn, flag, text } = kinds();
  return z.strictObject(
    {
      instructions: optional((value) => typeof value === 'string', 'a text'),
      format: z.optional(z.enum(['plain', 'tagged'], 'plain or tagged')),
      maxTokens: optional((value) => Number.isInteger(value) && Number(value) > 0, 'a whole number of tokens over 0'),
      effort: text,
      allowEffortDowngrade: flag,
      verbosity: z.optional(z.enum(['low', 'medium', 'high'], 'one of low, medium, high')),
      signal: signal(),
      onText: fn,
      onRestart: fn,
      onDenied: fn,
    },
    groupError,
  );
}

/** Also one from another realm. */
function signal() {
  return optional(
    (value) => typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value,
    'an AbortSignal',
  );
}
