import { type ContextBudget, softThresholdOf } from './context-budget.ts';

/** What holds for requests of some providers and models alone. */
export interface RoutePolicy {
  /** A part of the adapter's name, for instance `openai`, whatever its case. Absent: any. */
  provider?: string | undefined;
  /** A part of the model's name, whatever its case. Absent: any, an unnamed one too. */
  model?: string | undefined;
  /** Part of the window, over 0 and at most 1, at which history is compacted at the latest. Never later than the threshold. */
  thresholdRatio?: number | undefined;
  /** Part of the window that is kept word for word at the end, instead of the ratio of `retain.tail`. */
  tailRatio?: number | undefined;
  /** Instead of `summary.overflowRetries`. */
  overflowRetries?: number | undefined;
}

/** The first policy that fits. V4 */
export function findRoute(routes: readonly RoutePolicy[], provider: string, model: string | undefined): RoutePolicy | undefined {
  return routes.find((route) => holds(provider, route.provider) && holds(model, route.model));
}

/** The budget with a threshold of at most this part of the window: it can only be reached earlier. V6 */
export function capThreshold(budget: ContextBudget, window: number, ratio: number | undefined): ContextBudget {
  if (ratio === undefined || ratio >= 1) return budget;
  const cap = Math.max(1, Math.floor(Number((window * ratio).toFixed(6))));
  if (cap >= budget.threshold) return budget;
  return {
    ...budget,
    threshold: cap,
    softThreshold: softThresholdOf(cap),
    sources: { ...budget.sources, threshold: 'configured' },
  };
}

function holds(name: string | undefined, part: string | undefined): boolean {
  return part === undefined || (name ?? '').toLowerCase().includes(part.toLowerCase());
}
