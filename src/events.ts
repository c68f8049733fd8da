import type { Usage } from './adapters/adapter.ts';
import type { BudgetEstimate } from './budget/estimate.ts';
import type { CompactionError } from './errors.ts';
import type { Message } from './message.ts';

/** What was noticed and is worth reporting, though nothing failed. */
export type NoticeCode =
  /** A broken history was repaired in a request that had to be rebuilt or summarized. */
  | 'repaired'
  /** The summary request could not repeat the parent's prefix in full. */
  | 'prefix-changed'
  /** A request could not be read and went out as it was. */
  | 'unreadable-request'
  /** The history is the server's: requests pass through. Once for each conversation. */
  | 'server-held'
  /** What must stay does not fit the budget: no compaction can help. Once, until the user says something new. */
  | 'irreducible'
  /** A compaction succeeded and the request is still over the threshold. Once, until the user says something new. */
  | 'still-over-threshold'
  /** Three compactions in a row failed: none is tried until the user says something new. */
  | 'suppressed'
  /** A commit that was in doubt turned out well or badly. */
  | 'commit-reconciled';

export interface Notice {
  code: NoticeCode;
  message: string;
}

interface Lifecycle {
  compactionId: string;
  /** The conversation, where the caller named it. */
  conversation?: string | undefined;
}

export interface CompactionStarted extends Lifecycle {
  type: 'auto_compaction_started';
  estimate: BudgetEstimate;
  /** Cancels this compaction alone; the turn goes on with its full history. */
  cancel: () => void;
}

export interface CompactionApplied extends Lifecycle {
  type: 'auto_compaction_applied';
  /** The replacement without system messages: what a host stores. */
  replacement: Message[];
  tokensBefore: number;
  tokensAfter: number;
  /** Whether the summary request repeated the parent's prefix; if not, `because` says why. */
  prefix: 'kept' | 'changed';
  because: string[];
  usage?: Usage | undefined;
}

export interface CompactionCancelled extends Lifecycle {
  type: 'auto_compaction_cancelled';
  /** `child`: only the compaction was cancelled. `parent`: the turn was. */
  by: 'child' | 'parent';
  usage?: Usage | undefined;
}

export interface CompactionFailed extends Lifecycle {
  type: 'auto_compaction_failed';
  error: CompactionError;
  usage?: Usage | undefined;
}

export interface CompactionNotice extends Notice {
  type: 'notice';
  compactionId?: string | undefined;
  conversation?: string | undefined;
}

/** What happens around automatic compaction. Each start is followed by exactly one of applied, cancelled and failed. Payloads are copies. */
export type CompactionEvent = CompactionStarted | CompactionApplied | CompactionCancelled | CompactionFailed | CompactionNotice;

/** Observes; what it throws or rejects with changes nothing. */
export type CompactionObserver = (event: CompactionEvent) => void;

/** Tells an observer. Its faults, also asynchronous ones, stay its own. */
export function notify(observer: CompactionObserver | undefined, event: CompactionEvent): void {
  try {
    // An observer typed as returning nothing may still be an async function.
    const result: unknown = observer?.(event);
    if (result instanceof Promise) result.catch(() => undefined);
  } catch {
    // Observers never change what they observe.
  }
}
