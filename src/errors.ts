import { isError } from './any-realm.ts';

/** Why a compaction did not happen. `CompactionError.code` is one of these. */
export type CompactionErrorCode =
  /** An option is wrong: the message names it, its value and what was expected. */
  | 'invalid-options'
  /** A request cannot be read: the message names the item. */
  | 'invalid-request'
  /** Automatic compaction found no input of the user to keep. */
  | 'no-user-message'
  /** There is nothing beside what must stay. */
  | 'nothing-to-compact'
  /** The summary is blank. */
  | 'empty-summary'
  /** The summary was cut by the output cap, also after one retry with a larger cap. */
  | 'truncated-summary'
  /** The model refused, or its answer was filtered. */
  | 'refused'
  /** The reply is no summary: tool markup, an echo of the instruction, an error text. */
  | 'not-a-summary'
  /** The reply ended without saying that it was finished. */
  | 'incomplete-reply'
  /** The model still called tools after the last denial. */
  | 'tool-calls'
  /** Headings that a summary must have were missing, also after one correction. */
  | 'missing-headings'
  /** The effort that was asked for cannot be expressed to the provider; nothing was sent. */
  | 'unsupported-effort'
  /** The compacted request would be over its target. */
  | 'over-target'
  /** The provider compacts whole turns only, and a tool has not returned yet. */
  | 'incomplete-turn'
  /** The replacement would not save enough. */
  | 'not-smaller'
  /** The summary request does not fit the window. */
  | 'summarizer-overflow'
  /** The summary request failed; `cause` is the provider's error. */
  | 'summarizer-failed'
  /** The history changed under the compaction. */
  | 'stale'
  /** The loop was reset while the summary was written. */
  | 'reset'
  /** The host's `commit` rejected. */
  | 'commit-failed'
  /** The host's `commit` did not answer in time: it may or may not have been stored. */
  | 'commit-in-doubt'
  /** An event cannot be stored: the message names what is wrong with it. */
  | 'invalid-event'
  /** A session has gone on since: the events do not follow on what is stored. Load it again. */
  | 'store-conflict'
  /** Another process, or another store, is writing to the session. */
  | 'store-locked'
  /** Reading or writing failed, and nothing of it is stored; `cause` says how. */
  | 'store-failed'
  /** Writing failed, and it may or may not be stored: load the session again. */
  | 'store-in-doubt'
  /** The summary was not there in time. */
  | 'deadline'
  /** The compaction alone was cancelled, by `cancel()` of its start event or `cancelCompaction()`. */
  | 'cancelled';

/** The numbers and names that go with a `CompactionError`. */
export interface CompactionErrorDetails {
  cause?: unknown;
  /** Name of the adapter, for instance `openai-chat`. */
  provider?: string | undefined;
  model?: string | undefined;
  /** Estimated tokens of the request that was to be compacted. */
  inputTokens?: number | undefined;
  /** Input budget in tokens. */
  inputBudget?: number | undefined;
}

/**
 * The one error of this library. An abort is never wrapped in it: it is rethrown with its own reason.
 *
 * @example
 * try {
 *   await compactor.compact(request);
 * } catch (error) {
 *   if (isCompactionError(error) && error.code === 'nothing-to-compact') return request;
 *   throw error;
 * }
 */
export class CompactionError extends Error {
  override readonly name = 'CompactionError';
  readonly code: CompactionErrorCode;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly inputTokens: number | undefined;
  readonly inputBudget: number | undefined;

  constructor(code: CompactionErrorCode, message: string, details: CompactionErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.provider = details.provider;
    this.model = details.model;
    this.inputTokens = details.inputTokens;
    this.inputBudget = details.inputBudget;
  }
}

/**
 * Whatever was thrown as a `CompactionError` that says where it happened. The wording of a provider's error stays in `cause`: it may
 * hold what must not be shown.
 */
export function describeFailure(
  error: unknown,
  details: Omit<CompactionErrorDetails, 'cause'> & { overflow: boolean },
): CompactionError {
  const { overflow, ...where } = details;
  if (isCompactionError(error)) {
    if (error.inputBudget !== undefined) return error;
    const cause = 'cause' in error ? { cause: error.cause } : {};
    return new CompactionError(error.code, `${error.message} ${diagnostics(where)}`, { ...where, ...cause });
  }
  return overflow
    ? new CompactionError('summarizer-overflow', `The provider found the summary request too long. ${diagnostics(where)}`, {
        ...where,
        cause: error,
      })
    : new CompactionError(
        'summarizer-failed',
        `The summary request failed${statusOf(error)}; \`cause\` says how. ${diagnostics(where)}`,
        {
          ...where,
          cause: error,
        },
      );
}

/** Why something threw, in words that may be shown: what a function of the host or of another library says may hold a secret. */
export function explainThrown(error: unknown): string {
  if (isCompactionError(error)) return error.message;
  return isError(error) ? `${error.name} was thrown` : 'something that is no error was thrown';
}

/** The one part of a provider's error that holds nothing secret. */
function statusOf(error: unknown): string {
  const status: unknown = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  return typeof status === 'number' ? ` with status ${status}` : '';
}

// V36
function diagnostics({ provider, model, inputTokens, inputBudget }: CompactionErrorDetails): string {
  return `(${provider}, ${model ?? 'unknown model'}, input_tokens=${inputTokens}, budget=${inputBudget})`;
}

/**
 * True for a `CompactionError`, also one from another copy of this package in the same process.
 *
 * @example
 * if (isCompactionError(error)) showReason(error.code);
 */
export function isCompactionError(error: unknown): error is CompactionError {
  return error instanceof CompactionError || (isError(error) && error.name === 'CompactionError' && 'code' in error);
}
