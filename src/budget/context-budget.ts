import { CompactionError } from '../errors.ts';

/** Where a number comes from. */
export type NumberSource = 'usage' | 'estimate' | 'configured' | 'default';

/** How much of the window requests may fill, and from where on they are compacted. All in tokens. */
export interface BudgetOptions {
  /** Kept free for the reply and for errors of the estimate. Default: 4,096 or a twentieth of the window, whichever is larger. */
  safetyMargin?: number | undefined;
  /** Part of the input budget from which on history is compacted: over 0, at most 1. Default 0.9. */
  thresholdRatio?: number | undefined;
  /** The threshold itself. Wins over the ratio and the ceiling; at most the window. 0 or absent: not set. */
  threshold?: number | undefined;
  /** Treat a larger window as if it had this size. 0 or absent: no ceiling. */
  ceiling?: number | undefined;
  /** Output cap of the requests, for callers whose requests do not carry one. */
  outputCap?: number | undefined;
}

/** The model's window in tokens, or what tells it by the model that a request names. 0 or absent: 200,000. */
export type ContextWindow = number | ((model: string | undefined) => number | undefined);

export interface ContextBudgetOptions extends BudgetOptions {
  /** The model's window. 0 or absent: 200,000. */
  contextWindow?: number | undefined;
}

/** The budget of a window, in tokens. */
export interface ContextBudget {
  contextWindow: number;
  /** What a request may have without crowding out the reply. At least 1. */
  inputBudget: number;
  /** From this size on, inclusive, history is compacted. */
  threshold: number;
  /** A tenth below the threshold: from here on a host may want to tell its user. At least 1. */
  softThreshold: number;
  sources: { contextWindow: NumberSource; inputBudget: NumberSource; threshold: NumberSource };
}

const defaultContextWindow = 200_000;

/**
 * The budget math, pure and synchronous: `window − max(4096, window/20, output cap)` tokens of input, nine tenths of it as threshold.
 *
 * @throws CompactionError `invalid-options` for a negative, infinite or non-numeric value.
 * @example
 * contextBudget({ contextWindow: 128_000 }); // inputBudget 121600, threshold 109440
 */
export function contextBudget(options: ContextBudgetOptions = {}): ContextBudget {
  if (typeof options !== 'object' || options === null)
    throw new CompactionError(
      'invalid-options',
      `Expected options such as \`{ contextWindow: 128_000 }\`, got ${String(options)}.`,
    );
  const { thresholdRatio } = options;
  const known = tokensOption('contextWindow', options.contextWindow);
  const ceiling = tokensOption('ceiling', options.ceiling);
  const explicit = tokensOption('threshold', options.threshold);
  if (options.threshold && options.threshold < 1)
    throw new CompactionError(
      'invalid-options',
      `Expected \`threshold\` to be a number of tokens, got ${options.threshold}: a part of the budget is \`thresholdRatio\`.`,
    );
  const margin = options.safetyMargin === undefined ? undefined : tokensOption('safetyMargin', options.safetyMargin);
  const outputCap = tokensOption('outputCap', options.outputCap);
  if (thresholdRatio !== undefined && !(thresholdRatio > 0 && thresholdRatio <= 1))
    throw new CompactionError(
      'invalid-options',
      `Expected \`thresholdRatio\` to be over 0 and at most 1, got ${thresholdRatio}.`,
    );

  const contextWindow = known || ceiling || defaultContextWindow; // K8; V13: the known side wins
  const effective = ceiling ? Math.min(contextWindow, ceiling) : contextWindow;
  const kept = margin ?? Math.max(4096, Math.floor(effective / 20));
  const reserve = Math.max(kept, outputCap);
  const inputBudget = Math.max(1, effective - reserve);
  // K9 in whole numbers; K8 gives at least 1, so the threshold is never 0.
  const ratioThreshold =
    thresholdRatio === undefined
      ? inputBudget - Math.floor(inputBudget / 10)
      : Math.max(1, Math.ceil(Number((inputBudget * thresholdRatio).toFixed(6))));
  const threshold = explicit ? Math.min(explicit, contextWindow) : ratioThreshold; // V16
  return {
    contextWindow,
    inputBudget,
    threshold,
    softThreshold: softThresholdOf(threshold),
    sources: {
      contextWindow: known || ceiling ? 'configured' : 'default',
      inputBudget: margin !== undefined || ceiling || outputCap > kept ? 'configured' : 'default',
      threshold: explicit || thresholdRatio !== undefined ? 'configured' : 'default',
    },
  };
}

export function softThresholdOf(threshold: number): number {
  return Math.max(1, threshold - Math.floor(threshold / 10)); // V17
}

/** The window of the model that a request names. */
export function windowOf(contextWindow: ContextWindow | undefined, model: string | undefined): number | undefined {
  return typeof contextWindow === 'function' ? contextWindow(model) : contextWindow;
}

/** A number of tokens: fractions are cut, 0 and absent mean unknown. */
function tokensOption(name: string, value: number | undefined): number {
  if (value === undefined) return 0;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
    throw new CompactionError(
      'invalid-options',
      `Expected \`${name}\` to be a number of tokens, 0 or more, got ${typeof value === 'string' ? JSON.stringify(value) : String(value)}.`,
    );
  return value > 0 ? Math.max(1, Math.floor(value)) : 0;
}
