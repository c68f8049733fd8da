import * as z from 'zod/mini';
import { isRecord } from '../adapters/fields.ts';
import { checkOptions, groupError, kinds, optional } from '../check-options.ts';

/**
 * Checks a model of its own for summaries.
 *
 * @throws CompactionError `invalid-options`
 */
export function validateModel(model: unknown): void {
  checkOptions(z.optional(modelSchema()), model, 'model');
}

/**
 * @throws CompactionError `invalid-options`
 */
export function validateHierarchical(options: unknown): void {
  checkOptions(
    z.strictObject(
      {
        abstractTokens: optional((value) => Number.isInteger(value) && Number(value) > 0, 'a whole number of tokens over 0'),
        model: z.optional(modelSchema()),
      },
      groupError,
    ),
    options,
  );
}

/**
 * @throws CompactionError `invalid-options`
 */
export function validateKeepLast(parameters: unknown): void {
  checkOptions(
    z.strictObject({
      count: z.custom<unknown>((value) => Number.isInteger(value) && Number(value) >= 0, 'a whole number of messages, 0 or more'),
      summarizer: fn('a summarizer'),
      options: z.strictObject({ always: kinds().flag }, groupError),
    }),
    parameters,
  );
}

/**
 * @throws CompactionError `invalid-options`
 */
export function validateSummarizers(summarizers: unknown): void {
  checkOptions(z.array(fn('a summarizer')).check(z.minLength(1, 'at least one summarizer')), summarizers, 'summarizers');
}

/**
 * @throws CompactionError `invalid-options`
 */
export function validateNative(options: unknown): void {
  const client = (method: string, expectation: string) =>
    optional((value) => isRecord(value) && typeof value[method] === 'function', expectation);
  const group = 'an object with `openai` or `anthropic`';
  checkOptions(
    z
      .strictObject(
        {
          openai: client('compact', 'a client of OpenAI, for instance `client.responses`'),
          anthropic: client('create', 'a client of Anthropic, for instance `client.beta.messages`'),
          anthropicInline: z.optional(z.enum(['compact', 'clear-and-compact'], 'one of compact, clear-and-compact')),
        },
        { error: ({ code }) => (code === 'invalid_type' ? group : undefined) },
      )
      .check(z.refine(({ openai, anthropic }) => openai !== undefined || anthropic !== undefined, group)),
    options,
  );
}

function modelSchema() {
  return z.strictObject(
    {
      adapter: z.custom<unknown>(
        (value) => typeof value === 'object' && value !== null && 'forkForSummary' in value,
        'an adapter, for instance `openaiChat()`',
      ),
      request: z.custom<unknown>((value) => typeof value === 'object' && value !== null, 'a request without a conversation'),
      send: fn('a function'),
      contextWindow: z.custom<unknown>(
        (value) => typeof value === 'number' && Number.isFinite(value) && value > 0,
        'a number of tokens over 0',
      ),
    },
    groupError,
  );
}

function fn(expectation: string) {
  return z.custom<unknown>((value) => typeof value === 'function', expectation);
}
