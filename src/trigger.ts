import type { Mark } from './history/view.ts';

/** Why automatic compaction did not happen; the gates, in their order. */
export type Gate =
  /** The request was marked as no part of the conversation's work. */
  | 'one-shot'
  /** `when` is `never`. */
  | 'disabled'
  /** No turn was completed since the last attempt. */
  | 'no-turn'
  /** A tool call still waits for its result. */
  | 'open-call'
  /** The request must not be touched now: it ends with a prefill or a paused turn. `CompactionPlan.pending` says which. */
  | 'pending'
  /** The history is the server's. */
  | 'server-held'
  /** Three failures in a row, a commit in doubt, or too little growth since the last success. */
  | 'suppressed'
  /** The request is smaller than the threshold. */
  | 'below-threshold'
  /** What must stay does not fit the input budget. */
  | 'irreducible'
  /** There is nothing beside what must stay. */
  | 'nothing-to-compact';

/** What earlier attempts left behind. */
export interface TriggerState {
  /** Where the conversation stood at the last attempt. */
  attempt?: Mark | undefined;
  /** Failures in a row, cancellations not counted. */
  failures: number;
  /** What the user had said at the last failure, as a fingerprint. */
  failedInput?: string | undefined;
  /** Size of the request right after the last success, in tokens. */
  sizeAfter?: number | undefined;
  /** Set while a commit is in doubt: its compaction's id. */
  inDoubt?: string | undefined;
  /** Notices that were given and stand until the user says something new. */
  reported: string[];
  /** Where the conversation stood when `irreducible` was reported. */
  reportedAt?: Mark | undefined;
}

export interface GateFacts {
  oneShot: boolean;
  disabled: boolean;
  /** A turn was completed since the last attempt, or the mode does not ask for one. */
  turnCompleted: boolean;
  openCall: boolean;
  pending: boolean;
  serverHeld: boolean;
  /** The user said something since the last attempt. */
  newUserInput: boolean;
}

const mostFailures = 3;
/** Part of the input budget by which a compacted history must grow before it is compacted again. */
const rearmFraction = 0.05;

export function initialTrigger(): TriggerState {
  return { failures: 0, reported: [] };
}

/** The first gate that is closed, size apart: these cost nothing to look at. */
export function closedGate(facts: GateFacts, state: TriggerState): Gate | undefined {
  if (facts.oneShot) return 'one-shot';
  if (facts.disabled) return 'disabled';
  if (!facts.turnCompleted) return 'no-turn';
  if (facts.openCall) return 'open-call';
  if (facts.pending) return 'pending';
  if (facts.serverHeld) return 'server-held';
  if (state.inDoubt !== undefined) return 'suppressed';
  if (isSuppressed(state) && !facts.newUserInput) return 'suppressed';
  return undefined;
}

/** True where failures in a row keep automatic compaction from being tried. */
export function isSuppressed(state: TriggerState): boolean {
  return state.failures >= mostFailures;
}

/** The gate of size: at or over the threshold, and grown since the last success. */
export function closedSizeGate(
  tokens: number,
  budget: { inputBudget: number; threshold: number },
  state: TriggerState,
): Gate | undefined {
  if (tokens < budget.threshold) return 'below-threshold';
  if (state.sizeAfter !== undefined && tokens - state.sizeAfter < budget.inputBudget * rearmFraction) return 'suppressed';
  return undefined;
}

export function afterSuccess(state: TriggerState, attempt: Mark, sizeAfter: number): TriggerState {
  return { ...state, attempt, failures: 0, sizeAfter };
}

export function afterFailure(state: TriggerState, attempt: Mark, failedInput: string): TriggerState {
  return { ...state, attempt, failures: state.failures + 1, failedInput };
}

export function afterCancel(state: TriggerState, attempt: Mark): TriggerState {
  return { ...state, attempt };
}
