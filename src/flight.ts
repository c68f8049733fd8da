import { CompactionError } from './errors.ts';
import { call, untilAborted } from './until-aborted.ts';

/** How one compaction ended. */
export type FlightOutcome<Result> =
  | { status: 'applied'; result: Result }
  | { status: 'cancelled'; by: 'child' | 'parent' }
  | { status: 'failed'; error: unknown };

export interface FlightSteps<Result> {
  /** Writes the summary. Left behind where it ignores its signal: a late result changes nothing. */
  summarize: (signal: AbortSignal) => Promise<Result>;
  /** Throws where the result no longer fits what it would replace. */
  check: (result: Result) => void;
  /** The host's transaction: the point of no return. */
  commit: ((result: Result) => PromiseLike<void> | void) | undefined;
  install: (result: Result) => void;
  /** Called once, before anyone who waits is told. */
  onSettled: (outcome: FlightOutcome<Result>) => void;
  /** A commit that was given up on has answered after all. */
  onLateCommit: (committed: boolean) => void;
  timeout: number;
  commitTimeout: number | undefined;
}

/** One compaction under way, shared by all who wait for it. */
export interface Flight<Result> {
  /** Waits for the end. Rejects with the waiter's reason when aborted; the last one to leave cancels the compaction. */
  join: (waiter?: AbortSignal) => Promise<FlightOutcome<Result>>;
  /** Cancels this compaction alone. */
  cancel: () => void;
  /** The history was reset: whatever comes out is void, also behind a commit, which is not waited for. */
  discard: () => void;
}

type Stop = 'child' | 'parent' | 'deadline' | 'reset';

/** What the host's `commit` said. */
type Answer = { stored: true } | { stored: false; cause: unknown };

/** A longer timer would fire at once. */
const longestTimer = 2 ** 31 - 1;

/** Runs one transaction: summarize → check → commit → install. Who stops it first decides how it ends. */
export function startFlight<Result>(steps: FlightSteps<Result>): Flight<Result> {
  const controller = new AbortController();
  const { signal } = controller;
  let phase: 'summarizing' | 'committing' | 'over' = 'summarizing';
  let stopped: Stop | undefined;
  let waiting = 0;
  let late: Promise<Answer> | undefined;

  function stop(by: Stop, reason: unknown): void {
    if (stopped || phase === 'over') return;
    if (phase === 'committing' && by !== 'reset') return; // commit is the point of no return
    stopped = by;
    controller.abort(reason);
  }

  const timer = setTimeout(
    () => stop('deadline', new CompactionError('deadline', `Expected a summary within ${steps.timeout} ms.`)),
    Math.min(steps.timeout, longestTimer),
  );

  async function run(): Promise<FlightOutcome<Result>> {
    try {
      await undefined; // the start is told of first: cancelled there, nothing begins
      const result = await untilAborted(() => steps.summarize(signal), signal);
      signal.throwIfAborted(); // stopped when the summary was there already
      steps.check(result);
      phase = 'committing';
      await untilAborted(() => commit(result), signal); // only a reset is not waited out
      signal.throwIfAborted(); // a reset wins over a commit
      steps.install(result);
      return { status: 'applied', result };
    } catch (error) {
      if (stopped === 'child' || stopped === 'parent') return { status: 'cancelled', by: stopped };
      return { status: 'failed', error: stopped ? signal.reason : error };
    } finally {
      clearTimeout(timer);
      phase = 'over';
    }
  }

  async function commit(result: Result): Promise<void> {
    if (!steps.commit) return;
    const committing = call(() => steps.commit?.(result)).then(
      (): Answer => ({ stored: true }),
      (cause: unknown): Answer => ({ stored: false, cause }),
    );
    const { commitTimeout } = steps;
    const answer = await (commitTimeout === undefined ? committing : within(committing, commitTimeout));
    if (!answer) {
      late = committing;
      throw new CompactionError(
        'commit-in-doubt',
        `Expected \`commit\` to answer within ${commitTimeout} ms: it may or may not have stored the compaction.`,
      );
    }
    if (!answer.stored)
      throw new CompactionError('commit-failed', 'Expected `commit` to store the compaction, but it rejected.', {
        cause: answer.cause,
      });
  }

  const settled = run().then((outcome) => {
    steps.onSettled(outcome);
    void late?.then(({ stored }) => steps.onLateCommit(stored)); // never before the doubt is known
    return outcome;
  });

  return {
    join(waiter) {
      waiting++;
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          if (phase !== 'summarizing') return; // told when the commit has settled
          waiting--;
          if (waiting === 0) stop('parent', waiter?.reason);
          else reject(waiter?.reason);
        };
        waiter?.addEventListener('abort', leave, { once: true });
        settled.then((outcome) => {
          waiter?.removeEventListener('abort', leave);
          if (waiter?.aborted) reject(waiter.reason);
          else resolve(outcome);
        }, reject);
        if (waiter?.aborted) leave();
      });
    },
    cancel: () => stop('child', new CompactionError('cancelled', 'The compaction was cancelled.')),
    discard: () => stop('reset', new CompactionError('reset', 'The history was reset while it was compacted.')),
  };
}

/** Undefined where the promise, which never rejects, takes longer. */
function within<Value>(promise: Promise<Value>, milliseconds: number): Promise<Value | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), Math.min(milliseconds, longestTimer));
    void promise.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
