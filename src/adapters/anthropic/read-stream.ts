/**
 * Hands each event of a stream to `take`. Rejects with the signal's reason as soon as it is aborted, also where the stream hangs,
 * and takes nothing after that. The official raw stream ends without an error when it is aborted: this does not.
 */
export function readStream(stream: AsyncIterable<unknown>, take: (event: unknown) => void, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const iterator = stream[Symbol.asyncIterator]();
    const abandon = (): void => {
      reject(signal?.reason);
      release(iterator);
    };
    const drain = async (): Promise<void> => {
      for (let next = await iterator.next(); !next.done && !signal?.aborted; next = await iterator.next()) {
        try {
          take(next.value);
        } catch (error) {
          release(iterator);
          throw error;
        }
      }
    };
    signal?.addEventListener('abort', abandon, { once: true });
    drain()
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', abandon));
  });
}

/** Not awaited: a stream that hangs does not answer this either. */
function release(iterator: AsyncIterator<unknown>): void {
  Promise.resolve()
    .then(() => iterator.return?.())
    .catch(() => undefined);
}
