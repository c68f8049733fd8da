import { isRecord } from './fields.ts';

/** True for a reply that is a stream. Nothing is read of it. */
export function isStream(reply: unknown): reply is AsyncIterable<unknown> {
  return typeof reply === 'object' && reply !== null && Symbol.asyncIterator in reply;
}

/**
 * The values of a stream, until it ends or the signal aborts. An abort is not waited for: SDK streams end without a word when they are
 * aborted, or hang when they do not know the signal.
 */
export async function* readStream(
  stream: AsyncIterable<unknown>,
  signal: AbortSignal | undefined,
): AsyncGenerator<unknown, void> {
  const iterator = stream[Symbol.asyncIterator]();
  let ended = false;
  try {
    while (true) {
      const step = await untilAborted(iterator, signal);
      if (signal?.aborted) throw signal.reason;
      if (step.done) {
        ended = true;
        return;
      }
      yield step.value;
    }
  } finally {
    if (!ended) close(stream, iterator);
  }
}

/** Asks the stream to let go of its connection. An iterator that hangs answers when it can: nobody waits for it. */
function close(stream: AsyncIterable<unknown>, iterator: AsyncIterator<unknown>): void {
  new Promise((resolve) => resolve(iterator.return?.())).catch(() => {});
  // A generator that waits does not hear `return`; the streams of SDKs have a controller beside it.
  for (const name of ['controller', 'abortController']) {
    const controller: unknown = Reflect.get(stream, name);
    if (isRecord(controller) && typeof controller.abort === 'function') controller.abort();
  }
}

function untilAborted(iterator: AsyncIterator<unknown>, signal: AbortSignal | undefined): Promise<IteratorResult<unknown>> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason); // by whoever took the last value
    const abort = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    iterator
      .next()
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', abort));
  });
}
