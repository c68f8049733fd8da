import type { Usage } from './adapters/adapter.ts';
import { type Compaction, compactView, type ManualForm } from './compaction.ts';
import { recognizeOf, saidSoFar } from './decide.ts';
import { CompactionError, describeFailure, isCompactionError } from './errors.ts';
import { type Notice, notify } from './events.ts';
import { type FlightOutcome, startFlight, untilAborted } from './flight.ts';
import { copyDeep } from './history/copy.ts';
import { countReminders } from './history/replaced.ts';
import { endMark, type Mark, startsWith } from './history/view.ts';
import { foldState, type Overlay, stateAfter, type Track } from './overlay.ts';
import { reportOnce, shield } from './report.ts';
import { estimateInspection, type Inspection, readRaw, type Settings } from './settings.ts';
import { createSnapshot } from './snapshot.ts';
import { afterCancel, afterFailure, isSuppressed } from './trigger.ts';
import { addUsage } from './usage.ts';

/** A manual compaction, as it is asked for. */
export interface ManualCompaction extends ManualForm {
  signal?: AbortSignal | undefined;
  /** Text of the summary as the model writes it. */
  onText?: ((text: string) => void) | undefined;
  /** What came through `onText` so far is void: another attempt begins. */
  onRestart?: (() => void) | undefined;
}

/** Whose conversation is looked at, and how it stands now: a loop may grow while a summary is written. */
export interface Subject<Request, Item> {
  track: Track<Request, Item>;
  current: () => Request;
  /** False once the caller started over: nothing may be installed any more. Default: always true. */
  isCurrent?: (() => boolean) | undefined;
  /** The caller's own history takes the replacement in: called right when it is installed. */
  fold?: ((overlay: Overlay<Item>) => void) | undefined;
}

export interface Launched<Request, Item> {
  /** The end of the compaction, for the caller that started it: as `Flight.join`. */
  outcome: Promise<FlightOutcome<Compaction<Request, Item>>>;
  compactionId: string;
  notices: Notice[];
  usage: () => Usage | undefined;
}

/** Starts one compaction: gives the transaction its steps, and tells the host how it ends. */
export function launch<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  subject: Subject<Request, Item>,
  inspection: Inspection<Request, Item>,
  trigger: 'automatic' | 'manual',
  manual: ManualCompaction = {},
): Launched<Request, Item> {
  const { track } = subject;
  const { raw, view, budget } = inspection;
  const { conversation } = track;
  const { summarySend, commit } = settings;
  const compactionId = crypto.randomUUID();
  const lifecycle = { compactionId, conversation };
  const covered = endMark(raw, countReminders(view.body, settings.isUserInput));
  const estimate = estimateInspection(settings, track, inspection);
  const notices: Notice[] = [];
  let total: Usage | undefined;
  let attempt = 0;
  let committing: Compaction<Request, Item> | undefined;

  const usage = (): Usage | undefined => total && { ...total };
  const report = (notice: Notice): void => {
    notices.push(notice);
    notify(settings.onEvent, { type: 'notice', ...lifecycle, ...notice });
  };
  const nextState = (result: Compaction<Request, Item>) => stateAfter(track, { result, covered, compactionId });
  const unchanged = (): boolean => beginsWith(settings, subject, covered);

  function send(request: Request, signal: AbortSignal): Promise<Reply> {
    if (!summarySend) throw new CompactionError('invalid-options', 'Expected `send` to be given: the summarizer asks the model.');
    attempt++;
    return untilAborted(() => summarySend(request, { signal, purpose: 'summary', ...lifecycle, attempt }), signal);
  }

  function install(result: Compaction<Request, Item>): void {
    const state = nextState(result);
    Object.assign(track, subject.fold ? foldState(state) : state);
    if (state.overlay) subject.fold?.(state.overlay);
  }

  const flight = startFlight<Compaction<Request, Item>>({
    summarize: (signal) =>
      compactView(
        {
          trigger,
          form: manual,
          view,
          budget,
          anchor: track.anchor,
          recognize: recognizeOf(track),
          send: (request) => send(request, signal),
          signal,
          onText: shield(manual.onText, signal),
          onRestart: shield(manual.onRestart, signal),
          onUsage: (more) => {
            total = addUsage(total, more);
          },
        },
        settings,
      ),
    check() {
      if (!unchanged())
        throw new CompactionError('stale', 'Expected the history to stay as it was while it was compacted, but it changed.');
    },
    commit:
      commit &&
      ((result) => {
        committing = result;
        const state = nextState(result);
        return commit({
          ...lifecycle,
          trigger,
          covered: raw.leading.length + covered.count,
          replacement: [copyDeep(result.replacement)],
          request: copyDeep(result.view.request),
          snapshot: createSnapshot(conversation, subject.fold ? foldState(state) : state),
          usage: usage(),
        });
      }),
    install,
    onSettled,
    onLateCommit: (committed) => track.doubt?.(committed),
    timeout: settings.timeout,
    commitTimeout: settings.commitTimeout,
  });

  function onSettled(outcome: FlightOutcome<Compaction<Request, Item>>): void {
    track.flight = undefined;
    if (outcome.status === 'applied') reportApplied(outcome.result);
    else if (outcome.status === 'cancelled') {
      if (trigger === 'manual') return;
      track.trigger = afterCancel(track.trigger, covered);
      notify(settings.onEvent, { type: 'auto_compaction_cancelled', ...lifecycle, by: outcome.by, usage: usage() });
    } else {
      const error = describe(settings, inspection, estimate.tokens, outcome.error);
      outcome.error = error;
      if (error.code === 'commit-in-doubt') doubt();
      if (trigger === 'manual') return;
      track.trigger = afterFailure(track.trigger, covered, saidSoFar(settings, raw));
      notify(settings.onEvent, { type: 'auto_compaction_failed', ...lifecycle, error, usage: usage() });
      if (isSuppressed(track.trigger))
        reportOnce(settings, track, {
          code: 'suppressed',
          message: 'Three compactions in a row failed: none is tried until the user says something new.',
        });
    }
  }

  function reportApplied({ replacement, changed, repairs, tokensBefore, tokensAfter }: Compaction<Request, Item>): void {
    if (repairs.length > 0) report({ code: 'repaired', message: repairs.join(' ') });
    if (changed.length > 0)
      report({ code: 'prefix-changed', message: `The summary request differs from its parent: ${changed.join(', ')}.` });
    if (trigger === 'manual') return;
    notify(settings.onEvent, {
      type: 'auto_compaction_applied',
      ...lifecycle,
      replacement: [copyDeep(replacement)],
      tokensBefore,
      tokensAfter,
      prefix: changed.length > 0 ? 'changed' : 'kept',
      because: [...changed],
      usage: usage(),
    });
    if (tokensAfter >= budget.threshold)
      reportOnce(settings, track, {
        code: 'still-over-threshold',
        message: `The compacted request has ${tokensAfter} tokens, the threshold is ${budget.threshold}.`,
      });
  }

  /** The host may have stored the compaction or not: nothing is compacted until it is known. */
  function doubt(): void {
    track.trigger = { ...track.trigger, inDoubt: compactionId };
    track.doubt = (committed) => {
      track.doubt = undefined;
      track.trigger = { ...track.trigger, inDoubt: undefined };
      if (committed && committing && unchanged()) install(committing);
      report({
        code: 'commit-reconciled',
        message: committed ? 'The compaction was stored after all.' : 'The compaction was not stored.',
      });
    };
  }

  track.flight = flight;
  const outcome = flight.join(manual.signal); // before anyone else can join, and leave again
  if (trigger === 'automatic')
    notify(settings.onEvent, {
      type: 'auto_compaction_started',
      ...lifecycle,
      estimate: copyDeep(estimate),
      cancel: flight.cancel,
    });
  return { outcome, compactionId, notices, usage };
}

/** True where the conversation still begins with what the mark stands for. What cannot be read any more has changed. */
export function beginsWith<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  { current, isCurrent }: Subject<Request, Item>,
  mark: Mark,
): boolean {
  try {
    return isCurrent?.() !== false && startsWith(readRaw(settings, current()), mark);
  } catch {
    return false;
  }
}

/** The failure of a compaction, and where it happened. */
export function describe<Request, Item, Reply>(
  { adapter }: Settings<Request, Item, Reply>,
  { view, budget }: Inspection<Request, Item>,
  inputTokens: number,
  error: unknown,
): CompactionError {
  return describeFailure(error, {
    overflow: !isCompactionError(error) && adapter.classifyError(error).kind === 'overflow',
    provider: adapter.name,
    model: view.context.model,
    inputTokens,
    inputBudget: budget.inputBudget,
  });
}
