import { findUntouchable, futileGate } from './decide.ts';
import { notify } from './events.ts';
import { countReminders } from './history/replaced.ts';
import { type Inspection, inspect, readRaw } from './inspection.ts';
import { launch } from './launch.ts';
import { reportGate } from './machine.ts';
import type { Settings } from './settings.ts';
import type { Subject } from './subject.ts';

/** Sends a request, and where it is refused once more what `recover` gives in its place. */
export async function sendAndRecover<Request, Reply>(
  request: Request,
  send: (request: Request, attempt: number) => Promise<Reply>,
  recover: (error: unknown) => Promise<Request | undefined>,
): Promise<Reply> {
  let refusal: unknown;
  try {
    return await send(request, 1);
  } catch (error) {
    refusal = error;
  }
  const smaller = await recover(refusal);
  if (smaller === undefined) throw refusal;
  return send(smaller, 2);
}

/** A turn that the provider refused. */
export interface RefusedTurn<Request> {
  error: unknown;
  /** The request as it was sent. */
  sent: Request;
  /** The request as it would be sent now. */
  render: () => Request;
  signal: AbortSignal | undefined;
}

/**
 * The smaller request to send once in place of one that the provider found too long, after a compaction that asks for no threshold.
 * Undefined where the error is another one, where the option is off, where nothing may be compacted now, and where nothing was gained. V74
 *
 * @throws what `signal` was aborted with.
 */
export async function recoverFromOverflow<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  subject: Subject<Request, Item, Reply>,
  turn: RefusedTurn<Request>,
): Promise<Request | undefined> {
  const { signal } = turn;
  signal?.throwIfAborted();
  if (!settings.recoverOverflow || settings.when === 'never') return undefined;
  try {
    return await compactRefused(settings, subject, turn);
  } catch {
    // Whatever fails here: the provider's own error is what the caller hears.
    signal?.throwIfAborted();
    return undefined;
  }
}

async function compactRefused<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  subject: Subject<Request, Item, Reply>,
  { error, sent, render, signal }: RefusedTurn<Request>,
): Promise<Request | undefined> {
  const { meter, adapter } = settings;
  const { track } = subject;
  const refusal = adapter.classifyError(error);
  if (refusal.kind !== 'overflow') return undefined;
  await meter.load();
  const refused = readRaw(settings, sent);
  const { model } = refused.context;
  const size = meter.measure(refused, track.anchor).tokens;
  const window = windowShown(refusal, size);

  const takeSmaller = (): Request | undefined => {
    const request = render();
    const tokens = meter.measure(readRaw(settings, request)).tokens;
    if (tokens >= meter.measure(refused).tokens) return undefined;
    // A limit that leaves no room for what is left was about something else.
    track.trigger = { ...track.trigger, provenWindow: { model, tokens: tokens < window ? window : size } };
    const message = `The provider found a request of about ${size} tokens too long: it is sent once more with about ${tokens}.`;
    notify(settings.onEvent, { type: 'notice', conversation: track.conversation, code: 'overflow-recovered', message });
    return request;
  };

  while (track.flight) await track.flight.join(signal);
  signal?.throwIfAborted();
  const waited = takeSmaller(); // another call of the conversation may have compacted it meanwhile
  if (waited !== undefined) return waited;
  const trigger = { ...track.trigger, provenWindow: { model, tokens: window } };
  const inspection = inspect(settings, { ...track, trigger }, readRaw(settings, subject.current()));
  if (!mayCompact(settings, subject, inspection)) return undefined;
  const { status } = await launch(settings, subject, inspection, 'automatic', { signal }).outcome;
  return status === 'applied' ? takeSmaller() : undefined;
}

/** What no overflow justifies to touch; and what was tried in vain just before. */
function mayCompact<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  { track }: Subject<Request, Item, Reply>,
  inspection: Inspection<Request, Item>,
): boolean {
  const { raw, view } = inspection;
  if (findUntouchable(track, inspection)) return false;
  const { attempt } = track.trigger;
  if (attempt && raw.body.length - countReminders(raw.body, settings.isUserInput) <= attempt.count) return false;
  // What was refused needs no margin: all that fits the window is worth sending.
  const whole = { ...inspection.budget, inputBudget: inspection.budget.contextWindow };
  const measurement = settings.meter.measure(view, inspection.anchor);
  const gate = futileGate(settings, track, { ...inspection, budget: whole }, measurement);
  if (gate) reportGate(settings, track, raw, gate);
  return gate === undefined;
}

/** The window that the refusal shows, in tokens as they are counted here: providers count otherwise. */
function windowShown({ limit, requested }: { limit?: number; requested?: number }, size: number): number {
  if (limit === undefined) return size;
  const isTold = requested !== undefined && requested > limit;
  return Math.max(1, Math.floor(Math.min(size, isTold ? (limit * size) / requested : limit)));
}
