import type { Mark } from './history/view.ts';
import { type FailureRecord, strictest } from './suppression.ts';

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
  /** A failure that would only repeat itself, three in a row, a commit in doubt, or too little growth since the last success. */
  | 'suppressed'
  /** The request is smaller than the threshold. */
  | 'below-threshold'
  /**
   * What must stay does not fit the input budget or `summary.target`, or leaves so little of the budget that three compactions for one
   * input have not helped.
   */
  | 'irreducible'
  /** There is nothing beside what must stay. */
  | 'nothing-to-compact';

/** What earlier attempts left behind. */
export interface TriggerState {
  /** Where the conversation stood at the last attempt. */
  attempt?: Mark | undefined;
  /** Compactions that were tried since the newest input of the user. Absent: none. */
  tries?: number | undefined;
  /** Failures in a row, cancellations not counted. */
  failures: number;
  /** How things stood at the last of them. */
  failure?: FailureRecord | undefined;
  /** Size of the request right after the last success, in tokens. */
  sizeAfter?: number | undefined;
  /** Set while a commit is in doubt: its compaction's id. */
  inDoubt?: string | undefined;
  /** Notices that were given and stand until the user says something new. */
  reported: string[];
  /** Where the conversation stood when `irreducible` was reported. */
  reportedAt?: Mark | undefined;
  /** The soft threshold was crossed and told of. */
  softReported?: boolean | undefined;
  /** What the provider's refusal of a request showed of this model's window. */
  provenWindow?: ProvenWindow | undefined;
}

export interface ProvenWindow {
  model?: string | undefined;
  tokens: number;
}

/** Why a conversation must not be touched now. */
export interface TouchFacts {
  openCall: boolean;
  pending: boolean;
  serverHeld: boolean;
}

export interface GateFacts extends TouchFacts {
  oneShot: boolean;
  disabled: boolean;
  /** A turn was completed since the last attempt, or the mode does not ask for one. */
  turnCompleted: boolean;
  /** The last failure would only repeat itself. */
  suppressed: boolean;
}

/** What a size is held against, in tokens. */
interface SizeLimits {
  inputBudget: number;
  /** From here on, inclusive. */
  threshold: number;
}

/** Part of the input budget by which a compacted history must grow before it is compacted again. */
const rearmFraction = 0.05;
/** Where less than that is gained at a time, so many compactions may be tried for one input of the user. */
export const mostTries = 3;

export function initialTrigger(): TriggerState {
  return { failures: 0, reported: [] };
}

/** The first gate that is closed, size apart: these cost nothing to look at. */
export function closedGate(facts: GateFacts, state: TriggerState): Gate | undefined {
  if (facts.oneShot) return 'one-shot';
  if (facts.disabled) return 'disabled';
  if (!facts.turnCompleted) return 'no-turn';
  return untouchableGate(facts, state) ?? (facts.suppressed ? 'suppressed' : undefined);
}

/** The gates that neither a size nor a request of the host opens. */
export function untouchableGate({ openCall, pending, serverHeld }: TouchFacts, { inDoubt }: TriggerState): Gate | undefined {
  if (openCall) return 'open-call';
  if (pending) return 'pending';
  if (serverHeld) return 'server-held';
  return inDoubt === undefined ? undefined : 'suppressed';
}

/** The gate of size: at or over the threshold, and grown since the last success. That a turn was added is a gate of its own. */
export function closedSizeGate(
  tokens: number,
  { inputBudget, threshold }: SizeLimits,
  { sizeAfter }: TriggerState,
): Gate | undefined {
  if (tokens < threshold) return 'below-threshold';
  if (sizeAfter !== undefined && tokens - sizeAfter < inputBudget * rearmFraction) return 'suppressed';
  return undefined;
}

/** True where a compaction leaves so little of the threshold that the next one is due at once. In tokens. */
export function isCramped(room: number, inputBudget: number): boolean {
  return room < inputBudget * rearmFraction;
}

/** The user said something new: what was reported may be reported again. */
export function afterInput(state: TriggerState): TriggerState {
  return { ...state, tries: undefined, reported: [] };
}

/** Another model: what failed with the one before says nothing of it, and its sizes are others. V73 */
export function afterModelSwitch({ attempt, inDoubt, provenWindow }: TriggerState): TriggerState {
  return { ...initialTrigger(), attempt, inDoubt, provenWindow };
}

export function afterSuccess(state: TriggerState, attempt: Mark, sizeAfter: number): TriggerState {
  return { ...state, attempt, failures: 0, failure: undefined, sizeAfter };
}

export function afterFailure(state: TriggerState, attempt: Mark, failure: FailureRecord): TriggerState {
  const until = strictest(state.failure?.until, failure.until);
  return { ...state, attempt, failures: state.failures + 1, failure: { ...failure, until } };
}

export function afterCancel(state: TriggerState, attempt: Mark): TriggerState {
  return { ...state, attempt };
}
