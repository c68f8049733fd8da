import * as z from 'zod/mini';
import { type ContextWindow, contextBudget } from './budget/context-budget.ts';
import { checkOptions, groupError, kinds, optional } from './check-options.ts';
import type { CountingOptions } from './options.ts';

/**
 * Checks options once, at the entrance.
 *
 * @throws CompactionError `invalid-options`, naming the option, its value and what was expected.
 */
export function validateOptions(options: unknown): void {
  schema ??= buildSchema();
  checkOptions(schema, options);
  // The schema has just checked that these are what they are said to be.
  const { budget, contextWindow } = options as { budget?: CountingOptions; contextWindow?: ContextWindow };
  // What a function gives is checked with each request.
  contextBudget({ ...budget, contextWindow: typeof contextWindow === 'function' ? undefined : contextWindow });
}

const adapterMethods = [
  'items',
  'withItems',
  'withSystem',
  'context',
  'readItem',
  'writeMessage',
  'repairItem',
  'withoutReasoning',
  'forkForSummary',
  'readReply',
  'usage',
  'classifyError',
];

// Built on demand, so that importing the package builds nothing.
let schema: ReturnType<typeof buildSchema> | undefined;

function buildSchema() {
  const tokens = optional((value) => typeof value === 'number', 'a number');
  const milliseconds = optional((value) => typeof value === 'number' && value > 0, 'a number of milliseconds over 0');
  const { fn, flag, text } = kinds();
  const part = optional((value) => typeof value === 'number' && value > 0 && value <= 1, 'a number over 0, at most 1');
  const count = optional((value) => Number.isInteger(value) && Number(value) >= 0, 'a whole number, 0 or more');
  const group = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => z.optional(z.strictObject(shape, groupError));
  return z.strictObject(
    {
      adapter: z.custom<unknown>(isAdapter, 'an adapter, for instance `openaiChat()`'),
      contextWindow: optional(
        (value) => typeof value === 'number' || typeof value === 'function',
        'a number, or a function of the model',
      ),
      send: fn,
      budget: group({
        safetyMargin: tokens,
        thresholdRatio: tokens,
        threshold: tokens,
        ceiling: tokens,
        outputCap: tokens,
        countTokens: fn,
        soft: z.optional(z.enum(['report', 'act'], 'report or act')),
        routes: z.optional(
          z.array(
            z.strictObject(
              { provider: text, model: text, thresholdRatio: part, tailRatio: part, overflowRetries: count },
              groupError,
            ),
            'a list of policies',
          ),
        ),
      }),
      when: z.optional(z.enum(['turn', 'tool-turn', 'every-request', 'never'], 'one of turn, tool-turn, every-request, never')),
      recoverOverflow: flag,
      summary: group({
        maxTokens: optional((value) => Number.isInteger(value) && Number(value) > 0, 'a whole number of tokens over 0'),
        retries: count,
        overflowRetries: count,
        timeout: milliseconds,
        summarizer: fn,
        send: fn,
        replacePrompt: text,
        redact: fn,
        headings: optional(isListOfTexts, 'a list of texts that are not blank'),
        minimumSaving: optional((value) => typeof value === 'number' && value >= 0 && value < 1, 'a number from 0 to below 1'),
        target: part,
      }),
      retain: group({
        isUserInput: fn,
        latestUserMessage: flag,
        tail: group({ ratio: part, min: count, max: count }),
        messages: group({ tokens: count, count }),
        reasoning: z.optional(z.enum(['strip', 'keep', 'drop-block'], 'one of strip, keep, drop-block')),
      }),
      commit: fn,
      commitTimeout: milliseconds,
      onEvent: fn,
    },
    groupError,
  );
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string' && text.trim() !== '');
}

function isAdapter(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && adapterMethods.every((name) => typeof Reflect.get(value, name) === 'function')
  );
}
