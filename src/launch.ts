import type { Usage } from './adapters/adapter.ts';
import type { ManualForm } from './ask-summary.ts';
import { type Compaction, compactView } from './compaction.ts';
import { copyDeep } from './copy.ts';
import { recognizeOf, standingOf } from './decide.ts';
import { describeCompacted, noticesOf } from './describe-compacted.ts';
import { CompactionError, describeFailure, isCompactionError } from './errors.ts';
import { type Notice, notify } from './events.ts';
import { type FlightOutcome, startFlight } from './flight.ts';
import { countReminders, countShared } from './history/replaced.ts';
import { endMark } from './history/view.ts';
import { estimateInspection, type Inspection, readRaw } from './inspection.ts';
import type { ToolCallPart } from './message.ts';
import { foldState, stateAfter, type TrackState } from './overlay.ts';
import { reportOnce, shield } from './report.ts';
import { type Settings, withRoute } from './settings.ts';
import { createSnapshot } from './snapshot.ts';
import { beginsWith, type Subject } from './subject.ts';
import { classifyFailure, explainSuppression } from './suppression.ts';
import { afterCancel, afterFailure } from './trigger.ts';
import { untilAborted } from './until-aborted.ts';
import { addUsage } from './usage.ts';

/** A manual compaction, as it is asked for. */
export interface ManualCompaction extends ManualForm {
  signal?: AbortSignal | undefined;
  /** Text of the summary as the model writes it. */
  onText?: ((text: string) => void) | undefined;
  /** What came through `onText` so far is void: another attempt begins. */
  onRestart?: (() => void) | undefined;
  /** Calls of tools that the model tried in place of a summary, and was denied. Copies. */
  onDenied?: ((calls: readonly ToolCallPart[]) => void) | undefined;
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
  subject: Subject<Request, Item, Reply>,
  inspection: Inspection<Request, Item>,
  trigger: 'automatic' | 'manual',
  manual: ManualCompaction = {},
): Launched<Request, Item> {
  const { track } = subject;
  const { raw, view, budget, anchor } = inspection;
  const { conversation } = track;
  const { commit } = settings;
  const summarySend = settings.summarySend ?? subject.send ?? settings.send;
  const compactionId = crypto.randomUUID();
  const lifecycle = { compactionId, conversation };
  const seen = endMark(raw, countReminders(view.body, settings.isUserInput));
  const estimate = estimateInspection(settings, inspection);
  // Taken now, as all that the summary is made of: the track may go on while it is written.
  const recognize = recognizeOf(track);
  const notices: Notice[] = [];
  let total: Usage | undefined;
  let attempt = 0;
  let committing: Compaction<Request, Item> | undefined;

  const usage = (): Usage | undefined => total && { ...total };
  const report = (notice: Notice): void => {
    notices.push(notice);
    notify(settings.onEvent, { type: 'notice', ...lifecycle, ...notice });
  };
  const unchanged = (): boolean => beginsWith(settings, subject, seen);

  function nextState(result: Compaction<Request, Item>, rebased: number): TrackState<Item> {
    const covered = endMark(raw, result.kept);
    return stateAfter(track, { result, covered, attempt: seen, rebased, compactionId });
  }

  function send(request: Request, signal: AbortSignal): Promise<Reply> {
    if (!summarySend) throw new CompactionError('invalid-options', 'Expected `send` to be given: the summarizer asks the model.');
    attempt++;
    // One of its own for each request: clients add a listener and never take it away.
    const own = AbortSignal.any([signal]);
    return untilAborted(() => summarySend(request, { signal: own, purpose: 'summary', ...lifecycle, attempt }), signal);
  }

  function install(result: Compaction<Request, Item>): void {
    const state = nextState(result, readRaw(settings, subject.current()).body.length);
    Object.assign(track, subject.fold ? foldState(state, result.seen) : state);
    if (state.overlay) subject.fold?.(state.overlay);
  }

  const flight = startFlight<Compaction<Request, Item>>({
    summarize: (signal) =>
      compactView(
        {
          trigger,
          form: manual,
          view,
          own: countShared(raw.body, view.body),
          budget,
          anchor,
          recognize,
          send: (request) => send(request, signal),
          signal,
          onText: shield(manual.onText, signal),
          onRestart: shield(manual.onRestart, signal),
          onDenied: shield(manual.onDenied, signal),
          onNotice: report,
          onUsage: (more) => {
            total = addUsage(total, more);
          },
        },
        withRoute(settings, view),
      ),
    check() {
      if (!unchanged())
        throw new CompactionError('stale', 'Expected the history to stay as it was while it was compacted, but it changed.');
    },
    commit:
      commit &&
      ((result) => {
        committing = result;
        const state = nextState(result, raw.body.length);
        return commit({
          ...lifecycle,
          trigger,
          ...describeCompacted(raw, result),
          snapshot: createSnapshot(settings.meter, conversation, subject.fold ? foldState(state, result.seen) : state),
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
      track.trigger = afterCancel(track.trigger, seen);
      notify(settings.onEvent, { type: 'auto_compaction_cancelled', ...lifecycle, by: outcome.by, usage: usage() });
    } else {
      const error = describe(settings, inspection, estimate.tokens, outcome.error);
      outcome.error = error;
      if (error.code === 'commit-in-doubt') doubt();
      if (trigger === 'manual') return;
      track.trigger = afterFailure(track.trigger, seen, { ...standingOf(settings, raw), until: classifyFailure(error) });
      notify(settings.onEvent, { type: 'auto_compaction_failed', ...lifecycle, error, usage: usage() });
      const { failures, failure } = track.trigger;
      const message = failure && explainSuppression(failures, failure);
      if (message) reportOnce(settings, track, { code: 'suppressed', message });
    }
  }

  function reportApplied(result: Compaction<Request, Item>): void {
    const { replacement, changed, omitted, tokensBefore, tokensAfter } = result;
    for (const notice of noticesOf(result)) report(notice);
    if (trigger === 'manual') return;
    notify(settings.onEvent, {
      type: 'auto_compaction_applied',
      ...lifecycle,
      replacement: copyDeep([...replacement]),
      tokensBefore,
      tokensAfter,
      prefix: changed.length > 0 ? 'changed' : 'kept',
      because: [...changed],
      omitted: omitted && { ...omitted },
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
  if (trigger === 'automatic') track.trigger = { ...track.trigger, tries: (track.trigger.tries ?? 0) + 1 };
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
