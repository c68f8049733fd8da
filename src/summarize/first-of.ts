import { CompactionError, type CompactionErrorCode, isCompactionError } from '../errors.ts';
import type { Omitted } from '../events.ts';
import { isOverflow } from './ask-shorter.ts';
import { validateSummarizers } from './strategy-options.ts';
import type { Summarizer, SummarySizes, SummaryTask } from './summarizer.ts';

/**
 * The first summarizer that succeeds. Each failure but the last is told as `summarizer-failed-over`; an abort ends it at once.
 * Where all fail, the error has the code of the last one, and an `AggregateError` of all of them as its `cause`.
 *
 * @throws CompactionError `invalid-options`
 * @example
 * const summarizer = firstOf(forkSummarizer(), chunkedSummarizer(), extractiveSummarizer());
 */
export function firstOf(first: Summarizer, ...others: Summarizer[]): Summarizer {
  const summarizers = [first, ...others];
  validateSummarizers(summarizers);
  const summarize: Summarizer = async (task) => {
    const errors: unknown[] = [];
    for (const [index, ask] of summarizers.entries())
      try {
        return await ask(task);
      } catch (error) {
        task.signal.throwIfAborted();
        errors.push(error);
        if (index === summarizers.length - 1) break;
        task.onNotice({
          code: 'summarizer-failed-over',
          message: `Summarizer ${index + 1} of ${summarizers.length} failed (${codeOf(task, error)}): the next one is asked.`,
        });
        task.onRestart?.();
      }
    if (errors.length === 1) throw errors[0];
    throw failureOfAll(task, errors);
  };
  return Object.assign(summarize, {
    asksWithRequest: summarizers.every(({ asksWithRequest }) => asksWithRequest),
    foresee: <Request, Item, Reply>(sizes: SummarySizes<Request, Item, Reply>) => foreseeFirst(summarizers, sizes),
  });
}

/** What the first that could be asked would leave out. */
function foreseeFirst<Request, Item, Reply>(
  summarizers: readonly Summarizer[],
  sizes: SummarySizes<Request, Item, Reply>,
): Omitted | undefined {
  for (const [index, { foresee }] of summarizers.entries())
    try {
      return foresee?.(sizes);
    } catch (error) {
      if (index === summarizers.length - 1) throw error;
    }
  return undefined;
}

function failureOfAll<Request, Item, Reply>(
  task: SummaryTask<Request, Item, Reply>,
  errors: readonly unknown[],
): CompactionError {
  const last = errors.at(-1);
  // The wording of a provider's error stays in the cause: it may hold what must not be shown.
  const reason = isCompactionError(last) ? last.message : '`cause` says how.';
  return new CompactionError(codeOf(task, last), `Each of ${errors.length} summarizers failed. The last: ${reason}`, {
    cause: new AggregateError(errors),
  });
}

function codeOf<Request, Item, Reply>(task: SummaryTask<Request, Item, Reply>, error: unknown): CompactionErrorCode {
  if (isCompactionError(error)) return error.code;
  return isOverflow(task, error) ? 'summarizer-overflow' : 'summarizer-failed';
}
