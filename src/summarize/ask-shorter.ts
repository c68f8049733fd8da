import { isCompactionError } from '../errors.ts';
import type { SummaryTask } from './summarizer.ts';

/** What decides whether another, shorter request is worth a try. */
type Patience = Pick<SummaryTask<unknown, unknown, unknown>, 'overflowRetries' | 'onNotice' | 'onRestart'> & {
  adapter: Pick<SummaryTask<unknown, unknown, unknown>['adapter'], 'classifyError'>;
};

interface Ladder<Attempt, Result> {
  ask: (attempt: Attempt) => Promise<Result>;
  /** What to ask instead; undefined where it cannot be made smaller. */
  shorten: (rejected: Attempt) => Attempt | undefined;
}

/** Asks with less where the provider finds a request too long: strictly less each time, and only so often. V36–V39 */
export async function askShorter<Attempt extends { tokens: number }, Result>(
  first: Attempt,
  { ask, shorten }: Ladder<Attempt, Result>,
  patience: Patience,
): Promise<Result> {
  let attempt = first;
  for (let retries = 0; ; retries++)
    try {
      return await ask(attempt);
    } catch (error) {
      if (!isOverflow(patience, error) || retries === patience.overflowRetries) throw error;
      const shorter = shorten(attempt);
      if (!shorter) throw error;
      reportShorter(patience, attempt.tokens, shorter.tokens);
      attempt = shorter;
    }
}

/** What is bounded to half of what was too long; undefined where that is no smaller, or where nothing fits it. V36 */
export function halve<Attempt extends { tokens: number }>(
  { tokens: rejected }: Attempt,
  limit: number,
  bound: (limit: number) => Attempt,
): Attempt | undefined {
  try {
    const shorter = bound(Math.floor(Math.min(rejected, limit) / 2));
    return shorter.tokens < rejected ? shorter : undefined;
  } catch (error) {
    if (isCompactionError(error) && error.code === 'summarizer-overflow') return undefined;
    throw error;
  }
}

/** True where the provider, or the library, found a request too long. */
export function isOverflow({ adapter }: Pick<Patience, 'adapter'>, error: unknown): boolean {
  return isCompactionError(error) ? error.code === 'summarizer-overflow' : adapter.classifyError(error).kind === 'overflow';
}

/** Tells that a request was too long, and that what came of it is void. */
export function reportShorter(
  { onNotice, onRestart }: Pick<Patience, 'onNotice' | 'onRestart'>,
  rejected: number,
  shorter: number,
): void {
  onNotice({
    code: 'summary-shortened',
    message: `The provider found a summary request of about ${rejected} tokens too long: it is asked with ${shorter}.`,
  });
  onRestart?.();
}
