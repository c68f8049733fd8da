import type { FinishReason } from '../adapters/adapter.ts';
import { CompactionError } from '../errors.ts';
import { createTurnRecorder, type TurnRecorder } from './turn-recorder.ts';

/** What a run without a user interface comes to. */
export interface HeadlessResult {
  /** All that was said: before compactions and after, with nothing between. Of a run that failed, what was said until then. */
  text: string;
  /** Absent where the run ended well. */
  error?: unknown;
}

/** Runs one task. What it returns tells how its last reply ended. */
export type HeadlessTask = (recorder: TurnRecorder) => Promise<FinishReason | undefined>;

/**
 * Runs a task without a user interface and writes what came of it, once: also where the run fails, with the text until then. K52–K54
 *
 * A commit that fails ends no run, unlike in the original: nothing has changed then, so going on is safe.
 *
 * @throws what the task failed with, after the partial result was written; `incomplete-reply` for a stream that ended without saying that
 * it was finished; an `AggregateError` with the failure as its cause where the result could not be written either.
 * @example
 * await runHeadless(
 *   async (recorder) => {
 *     const { finish } = await loop.appendReply(await loop.send(), { onText: recorder.onText });
 *     return finish;
 *   },
 *   ({ text, error }) => process.stdout.write(JSON.stringify({ text, failed: error !== undefined })),
 * );
 */
export async function runHeadless(
  task: HeadlessTask,
  write: (result: HeadlessResult) => PromiseLike<unknown> | unknown,
  recorder: TurnRecorder = createTurnRecorder(),
): Promise<string> {
  const failure = await failureOf(task, recorder);
  recorder.end();
  const { text } = recorder;
  if (!failure) {
    await write({ text });
    return text;
  }
  try {
    await write({ text, error: failure.error });
  } catch (writing) {
    throw new AggregateError([failure.error, writing], 'The run failed, and so did writing what came of it.', {
      cause: failure.error,
    });
  }
  throw failure.error;
}

async function failureOf(task: HeadlessTask, recorder: TurnRecorder): Promise<{ error: unknown } | undefined> {
  try {
    const finish = await task(recorder);
    if (finish !== 'incomplete') return undefined;
    return { error: new CompactionError('incomplete-reply', 'The reply ended without saying that it was finished.') };
  } catch (error) {
    return { error };
  }
}
