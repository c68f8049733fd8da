import type { Usage } from './adapters/adapter.ts';
import type { BudgetEstimate } from './budget/estimate.ts';
import type { CompactionError } from './errors.ts';
import type { Message } from './message.ts';
import { call } from './until-aborted.ts';

/** What was noticed and is worth reporting, though nothing failed. */
export type NoticeCode =
  /** A broken history was repaired in a request that had to be rebuilt or summarized. */
  | 'repaired'
  /** The summary request could not repeat the parent's prefix in full. */
  | 'prefix-changed'
  /** A call of another provider's shape went through `compactingFetch` as it was. Once for each client. */
  | 'other-endpoint'
  /** A request could not be read and went out as it was. */
  | 'unreadable-request'
  /**
   * The history is the server's: requests pass through. Once for each conversation; once for all that go on from replies which the library
   * did not see, for these cannot be told apart.
   */
  | 'server-held'
  /**
   * What must stay fills the budget, or leaves so little of it that compaction does not help for long. Once, until the user says something
   * new.
   */
  | 'irreducible'
  /** The request has come within a tenth of its threshold. Once for each time it does; with `budget.soft: 'report'`. */
  | 'soft-threshold'
  /** The provider found a request too long: it was compacted and is sent once more. With `recoverOverflow`. */
  | 'overflow-recovered'
  /** A compaction succeeded and the request is still over the threshold. Once, until the user says something new. */
  | 'still-over-threshold'
  /** Compactions failed, three in a row or one that would only fail again: none is tried until something new is said, at least. */
  | 'suppressed'
  /** A part of the conversation was left out of what the summary was asked about. */
  | 'omitted'
  /** Headings that a summary must have were missing: it is asked for once more. */
  | 'summary-corrected'
  /** The provider's shape does not have the effort that was asked for: a lower one is. */
  | 'effort-lowered'
  /** The provider found the summary request too long: it is asked again with less. */
  | 'summary-shortened'
  /** The conversation does not fit one summary request: a part of it is summarized, together with the summary of all before it. */
  | 'summarized-in-pieces'
  /** A summarizer failed: the next one of `firstOf` is asked. */
  | 'summarizer-failed-over'
  /** A commit that was in doubt turned out well or badly. */
  | 'commit-reconciled';

/** What a summary was not asked about: the request would not have fitted, or one result would have filled a transcript. */
export interface Omitted {
  /** Items that were left out whole. */
  items: number;
  /** Tokens that were left out, those of items that were cut included. */
  tokens: number;
}

/** What is worth knowing, in words and by code. */
export interface Notice {
  code: NoticeCode;
  message: string;
}

interface Lifecycle {
  compactionId: string;
  /** The conversation, where the caller named it. */
  conversation?: string | undefined;
}

/** A compaction begins. */
export interface CompactionStarted extends Lifecycle {
  type: 'auto_compaction_started';
  estimate: BudgetEstimate;
  /** Cancels this compaction alone; the turn goes on with its full history. */
  cancel: () => void;
}

/** The replacement is installed. Its tokens are those of the whole request. */
export interface CompactionApplied extends Lifecycle {
  type: 'auto_compaction_applied';
  /** The replacement without system messages: what a host stores. */
  replacement: Message[];
  tokensBefore: number;
  tokensAfter: number;
  /** Whether the summary request repeated the parent's prefix; if not, `because` says why. */
  prefix: 'kept' | 'changed';
  because: string[];
  /** What the summary could not be asked about; absent where it was asked about everything. */
  omitted?: Omitted | undefined;
  usage?: Usage | undefined;
}

/** Nothing has changed. */
export interface CompactionCancelled extends Lifecycle {
  type: 'auto_compaction_cancelled';
  /** `child`: only the compaction was cancelled. `parent`: the turn was. */
  by: 'child' | 'parent';
  usage?: Usage | undefined;
}

/** Nothing has changed; `error` says why. */
export interface CompactionFailed extends Lifecycle {
  type: 'auto_compaction_failed';
  error: CompactionError;
  usage?: Usage | undefined;
}

/** Something is worth knowing, though nothing failed. */
export interface CompactionNotice extends Notice {
  type: 'notice';
  compactionId?: string | undefined;
  conversation?: string | undefined;
}

/**
 * What happens around automatic compaction. Each start is followed by exactly one of applied, cancelled and failed. Payloads are copies.
 */
export type CompactionEvent = CompactionStarted | CompactionApplied | CompactionCancelled | CompactionFailed | CompactionNotice;

/** Observes; what it throws or rejects with changes nothing. */
export type CompactionObserver = (event: CompactionEvent) => void;

/** Tells an observer. Its faults, also asynchronous ones, stay its own. */
export function notify(observer: CompactionObserver | undefined, event: CompactionEvent): void {
  // Typed as returning nothing, it may still be an async function.
  call(() => observer?.(event)).catch(() => undefined);
}
