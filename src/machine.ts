import type { Usage } from './adapters/adapter.ts';
import { copyDeep } from './copy.ts';
import { decide } from './decide.ts';
import { CompactionError, type CompactionErrorCode, explainThrown } from './errors.ts';
import { type Notice, notify, type Omitted } from './events.ts';
import { countReminders } from './history/replaced.ts';
import { endMark, type RequestView } from './history/view.ts';
import { cover, inspect, readRaw } from './inspection.ts';
import { describe, type Launched, launch, type ManualCompaction } from './launch.ts';
import type { Message } from './message.ts';
import type { Track } from './overlay.ts';
import { reportOnce } from './report.ts';
import type { Settings } from './settings.ts';
import { watchSoftThreshold } from './soft-threshold.ts';
import { beginsWith, type Subject } from './subject.ts';
import { afterInput, type Gate } from './trigger.ts';
import { untilAborted } from './until-aborted.ts';
import { validateManual } from './validate-call.ts';

/** What a manual compaction did. */
export interface CompactionResult<Request> {
  /** The request with the summary in place of the conversation. */
  request: Request;
  /** The messages that stand in place of the conversation, or of its beginning. */
  replacement: Message[];
  compactionId: string;
  tokensBefore: number;
  tokensAfter: number;
  /** Whether the summary request repeated the parent's prefix; if not, `because` says why. */
  prefix: 'kept' | 'changed';
  because: string[];
  /** What the summary could not be asked about; absent where it was asked about everything. */
  omitted?: Omitted | undefined;
  usage?: Usage | undefined;
  notices: Notice[];
}

type Joined<Request, Item> = Pick<Launched<Request, Item>, 'outcome'>;

/**
 * The gate before a request: compacts where all gates are open, and returns when that is done. Never fails for a compaction that failed:
 * the turn goes on with its full history.
 *
 * @throws what `signal` was aborted with.
 */
export async function checkBeforeRequest<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  subject: Subject<Request, Item, Reply>,
  { signal, oneShot, raw }: { signal?: AbortSignal | undefined; oneShot: boolean; raw?: RequestView<Request, Item> | undefined },
): Promise<void> {
  const { track } = subject;
  signal?.throwIfAborted();
  if (oneShot) return; // nothing of the conversation's concern, a compaction under way included
  if (track.flight) return void (await track.flight.join(signal));
  let joined: Joined<Request, Item> | undefined;
  try {
    joined = await launchWhereDue(settings, subject, signal, raw);
  } catch (error) {
    signal?.throwIfAborted();
    // Whatever could not be read, or threw in a function of the host: never the reason why a turn is lost.
    const message = `The request was not checked and goes out as it is: ${explainThrown(error)}`;
    notify(settings.onEvent, { type: 'notice', conversation: track.conversation, code: 'unreadable-request', message });
  }
  await joined?.outcome;
}

async function launchWhereDue<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  subject: Subject<Request, Item, Reply>,
  signal: AbortSignal | undefined,
  raw: RequestView<Request, Item> | undefined,
): Promise<Joined<Request, Item> | undefined> {
  const { track } = subject;
  const inspection = inspect(settings, track, raw ?? readRaw(settings, subject.current()));
  const deciding = async () => {
    const decision = await decide(settings, track, inspection, false);
    if (settings.soft === 'report') await watchSoftThreshold(settings, track, inspection, decision.measurement);
    return decision;
  };
  const { gate, newUserInput } = await (signal ? untilAborted(deciding, signal) : deciding());
  // From here to the launch nothing waits: of several callers exactly one gets through.
  if (track.flight) return { outcome: track.flight.join(signal) };
  if (gate) {
    if (gate === 'irreducible') {
      const reportedAt = endMark(inspection.raw, countReminders(inspection.raw.body, settings.isUserInput));
      track.trigger = { ...(newUserInput ? afterInput(track.trigger) : track.trigger), reportedAt };
    }
    reportGate(settings, track, inspection.raw, gate);
    return undefined;
  }
  if (!beginsWith(settings, subject, endMark(inspection.raw))) return undefined;
  if (newUserInput) track.trigger = afterInput(track.trigger);
  return launch(settings, subject, inspection, 'automatic', { signal });
}

/**
 * Compacts now, whatever the gates say.
 *
 * @throws CompactionError; what `signal` was aborted with.
 */
export async function compactNow<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  subject: Subject<Request, Item, Reply>,
  manual: ManualCompaction,
): Promise<CompactionResult<Request>> {
  const { track } = subject;
  validateManual(manual);
  manual.signal?.throwIfAborted();
  while (track.flight) await track.flight.join(manual.signal); // one compaction at a time
  const inspection = inspect(settings, track, readRaw(settings, subject.current()));
  const inputTokens = settings.meter.measure(inspection.view, inspection.anchor).tokens;
  const fail = (code: CompactionErrorCode, message: string): never => {
    throw describe(settings, inspection, inputTokens, new CompactionError(code, message));
  };
  if (subject.isCurrent?.() === false) fail('reset', 'The history was reset before it was compacted.');
  const { serverHeld } = inspection.view.context;
  if (serverHeld) fail('invalid-request', `Expected a history that the request holds, but it is the server's: ${serverHeld}.`);
  const { inDoubt } = track.trigger;
  if (inDoubt !== undefined) fail('commit-in-doubt', `Expected compaction ${inDoubt} to be reconciled first.`);
  const launched = launch(settings, subject, inspection, 'manual', manual);
  const outcome = await launched.outcome;
  if (outcome.status === 'failed') throw outcome.error;
  if (outcome.status === 'cancelled') return fail('cancelled', 'The compaction was cancelled.');
  const { result } = outcome;
  return {
    request: render(settings, track, subject.current()).request, // with what was appended meanwhile
    replacement: copyDeep([...result.replacement]),
    compactionId: launched.compactionId,
    tokensBefore: result.tokensBefore,
    tokensAfter: result.tokensAfter,
    prefix: result.changed.length > 0 ? 'changed' : 'kept',
    because: [...result.changed],
    omitted: result.omitted && { ...result.omitted },
    usage: launched.usage(),
    notices: launched.notices,
  };
}

/** A request as it goes out, and what it says. */
export interface Rendered<Request, Item> {
  request: Request;
  view: RequestView<Request, Item>;
}

/** The request to send: the caller's own object, unless a replacement stands for a part of it. */
export function render<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  request: Request,
): Rendered<Request, Item> {
  const { raw, view, repairs } = cover(settings, track, readRaw(settings, request));
  if (repairs.length > 0) reportOnce(settings, track, { code: 'repaired', message: repairs.join(' ') });
  if (view === raw || !track.overlay) return { request, view };
  // The caller may add cache markers to what it gets: the replacement that is remembered stays as it is.
  const { adapter } = settings;
  const own = new Set(raw.body.map(({ item }) => item));
  const remembered = new Set(track.overlay.items.filter((item) => !own.has(item)));
  const items = adapter.items(view.request).map((item) => (remembered.has(item) ? copyDeep(item) : item));
  return { request: adapter.withItems(view.request, items), view };
}

/** A commit that was in doubt: says how it ended. */
export function reconcile<Request, Item>(track: Track<Request, Item>, compactionId: string, committed: boolean): boolean {
  if (track.trigger.inDoubt !== compactionId) return false;
  if (track.doubt) track.doubt(committed);
  else track.trigger = { ...track.trigger, inDoubt: undefined }; // restored in another process: the store says how it stands
  return true;
}

/** Gates that an embedder should hear of, once. */
export function reportGate<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  raw: RequestView<Request, Item>,
  gate: Gate,
): void {
  if (gate === 'server-held')
    reportOnce(settings, track, {
      code: 'server-held',
      message: `The history is the server's: requests pass through uncompacted${reasonHeld(settings, track, raw)}.`,
    });
  if (gate === 'irreducible')
    reportOnce(settings, track, {
      code: 'irreducible',
      message:
        'System text, tools and the newest message of the user fill the input budget or `summary.target`, or leave too little of it: no compaction can help.',
    });
}

/** Why it cannot be summarized, where others like it can, and what to do. */
function reasonHeld<Request, Item, Reply>(
  { asksWithRequest }: Settings<Request, Item, Reply>,
  { before }: Track<Request, Item>,
  { context: { heldBefore } }: RequestView<Request, Item>,
): string {
  if (heldBefore === undefined) return '';
  if (!asksWithRequest) return ', because the summarizer reads messages, and those that the server holds are not among them';
  if (before) return ', because the server holds system text in it, or something that the library did not see';
  return `, because \`${heldBefore}\` names a reply that the library did not see: tell it with \`observe(request, { usage, responseId })\``;
}
