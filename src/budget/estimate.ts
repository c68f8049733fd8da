import type { ProviderAdapter } from '../adapters/adapter.ts';
import { checkMessages } from '../check-messages.ts';
import { checkNames } from '../check-options.ts';
import { CompactionError } from '../errors.ts';
import { createItemReader } from '../history/reading.ts';
import { readRequest } from '../history/view.ts';
import type { Message } from '../message.ts';
import { type Breakdown, countMessages, sumBreakdown } from './breakdown.ts';
import {
  type BudgetOptions,
  type ContextBudget,
  type ContextWindow,
  contextBudget,
  type NumberSource,
  windowOf,
} from './context-budget.ts';
import type { CounterKind } from './default-counter.ts';
import { createMeter } from './meter.ts';
import { checkCounter, countBytesByThree, type TokenCounter } from './token-counter.ts';

/** The size of a request against its budget. All numbers are tokens, but for `fraction`. */
export interface BudgetEstimate {
  tokens: number;
  contextWindow: number;
  inputBudget: number;
  threshold: number;
  /** A tenth below the threshold. */
  softThreshold: number;
  /** Input budget that is left; 0 when over it. */
  remaining: number;
  /** Part of the input budget in use: 1 is full. */
  fraction: number;
  /** The threshold is inclusive. */
  overThreshold: boolean;
  overBudget: boolean;
  breakdown: Breakdown;
  /** What counted the text: the caller's counter, the o200k tokenizer, or a third of the bytes. */
  counter: CounterKind;
  sources: ContextBudget['sources'] & { tokens: NumberSource };
}

export interface EstimateOptions extends BudgetOptions {
  /** The model's window in tokens, or what tells it by the model of a native request. 0 or absent: 200,000. */
  contextWindow?: ContextWindow | undefined;
  /** Counts text instead of the default, a third of the bytes. */
  countTokens?: TokenCounter | undefined;
}

/** The adapter that reads a native request. */
export interface AdapterOption<Shape, Item, Reply> {
  adapter: ProviderAdapter<Shape, Item, Reply>;
}

const estimateOptions = [
  'adapter',
  'contextWindow',
  'countTokens',
  'safetyMargin',
  'thresholdRatio',
  'threshold',
  'ceiling',
  'outputCap',
];

/**
 * Sizes neutral messages, or a native request with its adapter: system, tools and messages. Pure and synchronous, for tests and meters.
 *
 * @throws CompactionError `invalid-options`, and `invalid-request` for a request that cannot be read.
 * @example
 * estimateBudget([{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }], { contextWindow: 128_000 }).overThreshold; // false
 * estimateBudget({ model: 'gpt-5', messages: [] }, { adapter: openaiChat(), contextWindow: 128_000 }).tokens;
 */
export function estimateBudget(messages: readonly Message[], options?: EstimateOptions): BudgetEstimate;
export function estimateBudget<Shape, Item, Reply>(
  request: Shape,
  options: EstimateOptions & AdapterOption<Shape, Item, Reply>,
): BudgetEstimate;
export function estimateBudget<Shape, Item, Reply>(
  input: Shape | readonly Message[],
  options: EstimateOptions & Partial<AdapterOption<Shape, Item, Reply>> = {},
): BudgetEstimate {
  checkNames(options, estimateOptions);
  const { adapter, countTokens } = options;
  const counter: CounterKind = countTokens ? 'custom' : 'bytes';
  const count = countTokens ? checkCounter(countTokens) : countBytesByThree;
  if (!adapter) {
    if (!Array.isArray(input))
      throw new CompactionError('invalid-options', 'Expected neutral messages, or a native request together with its `adapter`.');
    checkMessages(input);
    const breakdown = countMessages(input, { count, family: 'generic' });
    const budget = contextBudget({ ...options, contextWindow: windowOf(options.contextWindow, undefined) });
    return toEstimate(budget, { tokens: sumBreakdown(breakdown), source: 'estimate', counter }, breakdown);
  }
  // Without an adapter the input is neutral messages: the overloads say so.
  const request = input as Shape;
  const meter = createMeter(adapter.family, countTokens ?? countBytesByThree);
  const view = readRequest(adapter, createItemReader(adapter), request);
  const { tokens } = meter.measure(view);
  const { model, outputCap = options.outputCap } = view.context;
  const budget = contextBudget({ ...options, contextWindow: windowOf(options.contextWindow, model), outputCap });
  return toEstimate(budget, { tokens, source: 'estimate', counter }, meter.breakdown(view, tokens));
}

export function toEstimate(
  budget: ContextBudget,
  { tokens, source, counter }: { tokens: number; source: NumberSource; counter: CounterKind },
  breakdown: Breakdown,
): BudgetEstimate {
  const { contextWindow, inputBudget, threshold, softThreshold } = budget;
  return {
    tokens,
    contextWindow,
    inputBudget,
    threshold,
    softThreshold,
    remaining: Math.max(0, inputBudget - tokens),
    fraction: tokens / inputBudget,
    overThreshold: tokens >= threshold,
    overBudget: tokens > inputBudget,
    breakdown,
    counter,
    sources: { ...budget.sources, tokens: source },
  };
}
