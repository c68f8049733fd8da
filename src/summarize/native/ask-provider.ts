import { CompactionError, isCompactionError } from '../../errors.ts';
import { retryTransient } from '../retry.ts';
import type { SummaryTask } from '../summarizer.ts';

/**
 * Asks a provider to compact, again where its failure may pass. There is no other way here: who wants one puts another summarizer behind
 * this. V57
 *
 * @throws CompactionError `summarizer-overflow`, `summarizer-failed` with the provider's error as its cause.
 */
export async function askProvider<Request, Item, Reply, Compacted>(
  task: SummaryTask<Request, Item, Reply>,
  ask: () => PromiseLike<Compacted>,
): Promise<Compacted> {
  const { adapter, retries, signal } = task;
  try {
    const reply = await retryTransient(async () => ask(), {
      retries,
      signal,
      classify: (error) => adapter.classifyError(error),
      onRetry: () => undefined,
    });
    signal.throwIfAborted();
    return reply;
  } catch (cause) {
    signal.throwIfAborted();
    if (isCompactionError(cause)) throw cause;
    const code = adapter.classifyError(cause).kind === 'overflow' ? 'summarizer-overflow' : 'summarizer-failed';
    throw new CompactionError(code, 'Failed to compact the history by the compaction of the provider; `cause` says why.', {
      cause,
    });
  }
}
