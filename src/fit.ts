import type { Measurement } from './budget/meter.ts';
import { findUntouchable, futileGate } from './decide.ts';
import { CompactionError, isCompactionError } from './errors.ts';
import { type Inspection, inspect, readRaw } from './inspection.ts';
import { describe, launch } from './launch.ts';
import { reportGate } from './machine.ts';
import type { Settings } from './settings.ts';
import type { Subject } from './subject.ts';
import { afterModelSwitch } from './trigger.ts';

/** How a request was fitted to the window of its model. V73 */
export type FitOutcome =
  /** `when` is `never`. */
  | 'disabled'
  /** It is below the threshold. */
  | 'unchanged'
  /** It cannot be compacted now: a call waits for its result, it is pending or the server's, or a commit is in doubt. */
  | 'skipped'
  /** There is no conversation yet. */
  | 'cleared'
  | 'compacted'
  /** It is too large, and there is nothing to gain. */
  | 'already-compact'
  /** `error` says why; the request is what it was. */
  | 'failed';

/** What came of fitting a request, which can be sent whatever the outcome. */
export interface FitResult<Request> {
  outcome: FitOutcome;
  request: Request;
  /** Why it failed. */
  error?: CompactionError | undefined;
}

/**
 * Compacts where the request is at or over the threshold of its window, whatever turns, growth and earlier failures say: these belong to
 * another model.
 *
 * @throws what `signal` was aborted with.
 */
export async function fitToWindow<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  subject: Subject<Request, Item, Reply>,
  signal: AbortSignal | undefined,
): Promise<Omit<FitResult<Request>, 'request'>> {
  signal?.throwIfAborted();
  if (settings.when === 'never') return { outcome: 'disabled' };
  try {
    return await compactWhereTooLarge(settings, subject, signal);
  } catch (cause) {
    signal?.throwIfAborted();
    return explainUnfit(cause);
  }
}

/** The switch always applies: what cannot be read is the provider's to refuse. */
export function explainUnfit(cause: unknown): Omit<FitResult<never>, 'request'> {
  if (isCompactionError(cause)) return { outcome: 'failed', error: cause };
  const error = new CompactionError('invalid-request', 'The request cannot be measured; `cause` says why.', { cause });
  return { outcome: 'failed', error };
}

async function compactWhereTooLarge<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  subject: Subject<Request, Item, Reply>,
  signal: AbortSignal | undefined,
): Promise<Omit<FitResult<Request>, 'request'>> {
  const { track } = subject;
  await settings.meter.load();
  signal?.throwIfAborted();
  while (track.flight) await track.flight.join(signal);
  track.trigger = afterModelSwitch(track.trigger);
  const inspection = inspect(settings, track, readRaw(settings, subject.current()));
  const measurement = settings.meter.measure(inspection.view, inspection.anchor);
  const outcome = findObstacle(settings, subject, inspection, measurement);
  if (outcome) return { outcome };

  const ended = await launch(settings, subject, inspection, 'automatic', { signal }).outcome;
  if (ended.status === 'applied') return { outcome: 'compacted' };
  const reason = ended.status === 'failed' ? ended.error : new CompactionError('cancelled', 'The compaction was cancelled.');
  const error = describe(settings, inspection, measurement.tokens, reason);
  return error.code === 'not-smaller' ? { outcome: 'already-compact' } : { outcome: 'failed', error };
}

/** Why there is nothing to do, or nothing that may be done. */
function findObstacle<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  { track }: Subject<Request, Item, Reply>,
  inspection: Inspection<Request, Item>,
  measurement: Measurement,
): FitOutcome | undefined {
  const { raw, view, budget } = inspection;
  if (view.context.serverHeld !== undefined) return 'skipped';
  if (raw.body.length === 0) return 'cleared';
  if (measurement.tokens < budget.threshold) return 'unchanged';
  if (findUntouchable(track, inspection)) return 'skipped';
  const gate = futileGate(settings, track, inspection, measurement);
  if (gate) reportGate(settings, track, raw, gate);
  return gate && 'already-compact';
}
