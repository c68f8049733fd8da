/** Input in the order in which it came, handed on when nothing else runs. */
export interface InputQueue<Input> {
  /** Takes input: at once where nothing runs, else when it is over. Fulfilled when it was taken. */
  submit(input: Input): Promise<void>;
  /** Runs something, for instance a manual compaction. What is submitted meanwhile is taken after it, however it ended. K29 */
  during<Result>(work: () => PromiseLike<Result>): Promise<Result>;
  /** Input that waits. */
  readonly waiting: readonly Input[];
}

/**
 * Keeps input that comes at a bad time. Nothing that was accepted is ever dropped: what cannot be taken rejects its `submit`.
 *
 * @example
 * const queue = createInputQueue(answer);
 * const compacting = queue.during(() => loop.compact());
 * await Promise.all([queue.submit('And now the tests.'), compacting]); // answered behind the summary
 */
export function createInputQueue<Input>(take: (input: Input) => PromiseLike<unknown> | unknown): InputQueue<Input> {
  const waiting: Input[] = [];
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other, in the order in which they came. */
  function inOrder<Result>(work: () => PromiseLike<Result> | Result): Promise<Result> {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  }

  return {
    submit(input) {
      waiting.push(input);
      return inOrder(async () => {
        waiting.shift();
        await take(input);
      });
    },
    during: inOrder,
    get waiting() {
      return [...waiting];
    },
  };
}
