import { isWebStream, readChunks } from './read-text.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * The same response, whose text `listen` hears as the caller reads it, at the caller's pace: nothing is read ahead, nothing is kept for a
 * caller that stops reading, and cancelling it cancels the call. The text ends where the reading does, for whatever reason.
 */
export function watchBody(response: Response, listen: (texts: AsyncIterable<string>) => void): Response {
  if (!isWebStream(response.body)) return response;
  const listener = startListener(listen);
  const body = watchStream(() => response.body, listener);
  return showAs(response, new Response(body, { status: response.status, headers: response.headers }));
}

/** `open` is called when somebody reads, not before: it holds the response, whose body would be cancelled when it is collected. */
function watchStream(open: () => Response['body'], { hear, end }: Listener): ReadableStream<Bytes> {
  let reader: ReadableStreamDefaultReader<Bytes> | undefined;
  const start = (): ReadableStreamDefaultReader<Bytes> | undefined => {
    reader ??= open()?.getReader();
    return reader;
  };
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        try {
          const next = await start()?.read();
          if (!next || next.done) {
            end();
            controller.close();
          } else {
            hear(next.value);
            controller.enqueue(next.value);
          }
        } catch (error) {
          end();
          throw error;
        }
      },
      cancel(reason) {
        end();
        return start()?.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

interface Listener {
  hear(chunk: Bytes): void;
  end(): void;
}

/** Turns what is read into text. Its faults stay its own. */
function startListener(listen: (texts: AsyncIterable<string>) => void): Listener {
  const decoder = new TextDecoder();
  let queue: ReadableStreamDefaultController<string> | undefined;
  const attempt = (step: (queue: ReadableStreamDefaultController<string>) => void): void => {
    try {
      if (queue) step(queue);
    } catch {
      queue = undefined; // nobody listens any more, or these are no bytes
    }
  };
  listen(
    readChunks(
      new ReadableStream<string>({
        start(controller) {
          queue = controller;
        },
      }),
    ),
  );
  return {
    hear: (chunk) => attempt((texts) => texts.enqueue(decoder.decode(chunk, { stream: true }))),
    end: () => attempt((texts) => texts.close()),
  };
}

/** What a response made by hand does not say of itself. */
function showAs(original: Pick<Response, 'url' | 'type' | 'redirected' | 'statusText'>, copy: Response): Response {
  const { url, type, redirected, statusText } = original;
  const shown = { url, type, redirected, statusText };
  const clone = (): Response => showAs(shown, Response.prototype.clone.call(copy));
  for (const [name, value] of Object.entries({ ...shown, clone }))
    Object.defineProperty(copy, name, { value, configurable: true, writable: true });
  return copy;
}
