import type { Usage } from './adapters/adapter.ts';
import { decide } from './decide.ts';
import { CompactionError } from './errors.ts';
import type { Notice } from './events.ts';
import { copyDeep } from './history/copy.ts';
import { launch, type ManualCompaction, reportOnce, type Subject } from './launch.ts';
import type { Message } from './message.ts';
import type { Track } from './overlay.ts';
import { inspect, readRaw, type Settings } from './settings.ts';
import type { Gate } from './trigger.ts';

/** What a manual compaction did. */
export interface CompactionResult<Request> {
  /** The request with the summary in place of the conversation. */
  request: Request;
  replacement: Message;
  compactionId: string;
  tokensBefore: number;
  tokensAfter: number;
  /** Whether the summary request repeated the parent's prefix; if not, `because` says why. */
  prefix: 'kept' | 'changed';
  because: string[];
  usage?: Usage | undefined;
  notices: Notice[];
}

/**
 * The gate before a request: compacts where all gates are open, and returns when that is done. Never fails for a compaction that failed:
 * the turn goes on with its full history.
 *
 * @throws what `signal` was aborted with.
 */
export async function checkBeforeRequest<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  subject: Subject<Request, Item>,
  options: { signal?: AbortSignal | undefined; oneShot: boolean },
): Promise<void> {
  const { track } = subject;
  const { signal, oneShot } = options;
  signal?.throwIfAborted();
  if (await joined(track, signal)) return;
  const inspection = inspect(settings, track, readRaw(settings, subject.current()));
  const { gate, newUserInput, measurement } = await decide(settings, track, inspection, oneShot);
  signal?.throwIfAborted();
  if (newUserInput) track.trigger = { ...track.trigger, reported: [] };
  if (await joined(track, signal)) return; // another caller was faster while the tokenizer loaded
  if (gate || !measurement) return reportGate(settings, track, gate);
  const { flight } = launch(settings, subject, inspection, 'automatic');
  await flight.join(signal);
}

/**
 * Compacts now, whatever the gates say.
 *
 * @throws CompactionError; what `signal` was aborted with.
 */
export async function compactNow<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  subject: Subject<Request, Item>,
  manual: ManualCompaction,
): Promise<CompactionResult<Request>> {
  const { track } = subject;
  manual.signal?.throwIfAborted();
  while (await joined(track, manual.signal)); // one compaction at a time
  const inspection = inspect(settings, track, readRaw(settings, subject.current()));
  const { serverHeld } = inspection.view.context;
  if (serverHeld)
    throw new CompactionError(
      'invalid-request',
      `Expected a history that the request holds, but it is the server's: ${serverHeld}.`,
    );
  if (track.trigger.inDoubt)
    throw new CompactionError('commit-in-doubt', `Expected compaction ${track.trigger.inDoubt} to be reconciled first.`);
  const { flight, compactionId, notices, usage } = launch(settings, subject, inspection, 'manual', manual);
  const outcome = await flight.join(manual.signal);
  if (outcome.status === 'failed') throw outcome.error;
  if (outcome.status === 'cancelled') throw new CompactionError('cancelled', 'The compaction was cancelled.');
  const { result } = outcome;
  return {
    request: result.view.request,
    replacement: copyDeep(result.replacement),
    compactionId,
    tokensBefore: result.tokensBefore,
    tokensAfter: result.tokensAfter,
    prefix: result.changed.length > 0 ? 'changed' : 'kept',
    because: [...result.changed],
    usage: usage(),
    notices,
  };
}

/** The request to send: the caller's own object, unless a replacement stands for a part of it. */
export function render<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  request: Request,
): Request {
  const { view, repairs } = inspect(settings, track, readRaw(settings, request));
  if (repairs.length > 0) reportOnce(settings, track, { code: 'repaired', message: repairs.join(' ') });
  return view.request;
}

/** A commit that was in doubt: says how it ended. */
export function reconcile<Request, Item>(track: Track<Request, Item>, compactionId: string, committed: boolean): boolean {
  if (track.trigger.inDoubt !== compactionId) return false;
  if (track.doubt) track.doubt(committed);
  else track.trigger = { ...track.trigger, inDoubt: undefined }; // restored in another process: the store says how it stands
  return true;
}

/** Waits for a compaction that is under way. */
async function joined(track: Track<unknown, unknown>, signal: AbortSignal | undefined): Promise<boolean> {
  const { flight } = track;
  await flight?.join(signal);
  return flight !== undefined;
}

/** Gates that an embedder should hear of, once. */
function reportGate<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  gate: Gate | undefined,
): void {
  if (gate === 'server-held')
    reportOnce(settings, track, {
      code: 'server-held',
      message: "The history is the server's: requests pass through uncompacted.",
    });
  if (gate === 'irreducible')
    reportOnce(settings, track, {
      code: 'irreducible',
      message: 'System text, tools and the newest message of the user fill the input budget: no compaction can help.',
    });
}
