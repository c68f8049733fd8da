import type { ContextBudget } from './budget/context-budget.ts';
import { type BudgetEstimate, toEstimate } from './budget/estimate.ts';
import type { UsageAnchor } from './budget/meter.ts';
import { recallHeld } from './history/held.ts';
import { type RequestView, readRequest } from './history/view.ts';
import { applyOverlay, type Track } from './overlay.ts';
import type { Settings } from './settings.ts';

/** A request as the caller has it, and as it is sent. The same where nothing is covered. */
export interface Inspection<Request, Item> {
  raw: RequestView<Request, Item>;
  view: RequestView<Request, Item>;
  budget: ContextBudget;
  repairs: readonly string[];
  /** What the provider said of its beginning. Taken now: the conversation may go on while this request is worked on. */
  anchor: UsageAnchor | undefined;
}

/** Adds to a request what is known of its conversation: what is sent for it, and how large that may be. */
export function inspect<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  request: RequestView<Request, Item>,
): Inspection<Request, Item> {
  const shown = cover(settings, track, request);
  return { ...shown, budget: settings.budgetOf(shown.view, track.trigger.provenWindow), anchor: track.anchor };
}

/** The request as it is sent: the replacement in its place, what the server holds in front of it. */
export function cover<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  request: RequestView<Request, Item>,
): Pick<Inspection<Request, Item>, 'raw' | 'view' | 'repairs'> {
  // Who does not ask the model reads the messages: those that the server holds are not among them.
  const raw = recallHeld(request, settings.asksWithRequest ? track.before : undefined);
  const covered =
    track.overlay && raw.chain[track.overlay.covered.count] === track.overlay.covered.hash ? track.overlay : undefined;
  const { view, repairs } = covered ? applyOverlay(raw, covered, settings) : { view: raw, repairs: [] };
  return { raw, view, repairs };
}

export function readRaw<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  request: Request,
): RequestView<Request, Item> {
  return readRequest(settings.adapter, settings.read, request);
}

/** The size of what would be sent, with what is known of its conversation. */
export function estimateInspection<Request, Item, Reply>(
  { meter }: Settings<Request, Item, Reply>,
  { view, budget, anchor }: Inspection<Request, Item>,
): BudgetEstimate {
  const measurement = meter.measure(view, anchor);
  return toEstimate(budget, measurement, meter.breakdown(view, measurement.tokens));
}
