import pRetry from 'p-retry';
import type { ErrorClass } from '../adapters/adapter.ts';
import { isCompactionError } from '../errors.ts';

export interface RetryOptions {
  retries: number;
  signal: AbortSignal;
  classify: (error: unknown) => ErrorClass;
  /** Another attempt begins. */
  onRetry: () => void;
}

const shortestDelay = 500;
const longestDelay = 30_000;

/** Carries what was thrown, whatever it is, through p-retry, which knows errors only and decides by their kind. */
class FailedAttempt extends Error {}

/** Tries again after a failure that may pass: a busy provider, a connection lost, a reply that was cut. Never after an abort. */
export async function retryTransient<Result>(attempt: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  const { retries, signal, classify, onRetry } = options;
  try {
    return await pRetry(
      async (attemptNumber) => {
        if (attemptNumber > 1) onRetry();
        try {
          return await attempt();
        } catch (error) {
          throw new FailedAttempt('', { cause: error });
        }
      },
      {
        retries,
        minTimeout: shortestDelay,
        maxTimeout: longestDelay,
        signal,
        shouldRetry: ({ error }) => !signal.aborted && mayPass(error.cause, classify),
        async onFailedAttempt({ error, retriesLeft }) {
          if (signal.aborted || retriesLeft === 0 || !mayPass(error.cause, classify)) return;
          const verdict = isCompactionError(error.cause) ? undefined : classify(error.cause);
          if (verdict?.kind === 'retryable' && verdict.retryAfter) await sleep(verdict.retryAfter, signal);
        },
      },
    );
  } catch (error) {
    signal.throwIfAborted(); // an abort comes out with its own reason, which need not be an Error
    throw error instanceof FailedAttempt ? error.cause : error;
  }
}

function mayPass(error: unknown, classify: (error: unknown) => ErrorClass): boolean {
  if (isCompactionError(error)) return error.code === 'incomplete-reply';
  return classify(error).kind === 'retryable';
}

/** Ends early on abort: the retry looks at the signal next. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(milliseconds, 2 ** 31 - 1));
    signal.addEventListener('abort', done);
  });
}
