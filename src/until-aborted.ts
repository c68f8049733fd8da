/** Settles as the work does, or rejects with the signal's reason as soon as it aborts. */
export function untilAborted<Result>(work: () => PromiseLike<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    call(work)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Turns what is thrown at once into a rejection. */
export async function call<Result>(work: () => PromiseLike<Result> | Result): Promise<Result> {
  return work();
}
