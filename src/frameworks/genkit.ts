/**
 * Compaction for Genkit: a middleware for `ai.generate`, `ai.generateStream` and models.
 *
 * @packageDocumentation
 */
import { type GenkitMessage, type GenkitReply, type GenkitRequest, genkitModel } from '../adapters/genkit.ts';
import { type Compactor, createCompactor } from '../compactor.ts';
import type { Send, SharedOptions } from '../options.ts';
import { sendChecked } from '../send-checked.ts';
import { nameSafely } from './conversation-name.ts';
import { joinReplacementTexts } from './genkit/join-texts.ts';
import { refuseOptions } from './refuse-options.ts';
import { refuseToSend } from './refuse-to-send.ts';

export { type GenkitMessage, type GenkitReply, type GenkitRequest, genkitModel } from '../adapters/genkit.ts';

/** What Genkit passes beside a request, as far as the middleware reads it. */
export interface GenkitCallOptions {
  readonly abortSignal?: AbortSignal | undefined;
  readonly onChunk?: ((chunk: never) => unknown) | undefined;
}

export interface GenkitMiddlewareOptions<Request extends GenkitRequest = GenkitRequest, Reply extends GenkitReply = GenkitReply>
  extends Omit<SharedOptions<GenkitRequest, GenkitMessage, GenkitReply, Request, Reply>, 'adapter'> {
  /**
   * Names the conversation that a request belongs to, for instance from `ai.currentContext()`. Default: it is found by its content.
   */
  conversation?: ((request: Request) => string | undefined) | undefined;
}

/** Genkit's `ModelMiddlewareWithOptions`; also the `model` hook of a `GenerateMiddlewareDef`. */
export interface GenkitMiddleware<Request extends GenkitRequest = GenkitRequest, Reply extends GenkitReply = GenkitReply> {
  <R extends Request, Options extends GenkitCallOptions | undefined, P extends Reply>(
    request: R,
    options: Options,
    next: (request: R, options: Options) => Promise<P>,
  ): Promise<P>;
  /**
   * For `plan`, `estimate`, `snapshot` and `restore`, and for compacting by hand: this asks `summary.send` for the summary, because it
   * happens outside of any call.
   */
  readonly compactor: Compactor<GenkitRequest, GenkitMessage, Request, Reply>;
}

/**
 * Keeps the calls of `ai.generate` inside the window, each step of its tool loop too. Every request to the model is checked, compacted
 * where that is due, and sent once; the summary is asked of the same model, and its chunks never reach the caller's stream. The messages
 * that Genkit hands out stay whole. One middleware serves any number of conversations: make it once, not for each call. Put it in front of
 * `retry` and `fallback`, so that they are given what it makes of a request.
 *
 * @throws CompactionError `invalid-options`
 * @example
 * const compacting = genkitMiddleware({ contextWindow: 1_000_000 });
 * const { text } = await ai.generate({ model, prompt, tools, use: [compacting] });
 */
export function genkitMiddleware<Request extends GenkitRequest = GenkitRequest, Reply extends GenkitReply = GenkitReply>(
  options: GenkitMiddlewareOptions<Request, Reply> = {},
): GenkitMiddleware<Request, Reply> {
  refuseOptions(options, ['adapter', 'send']);
  const { conversation, ...shared } = options;
  const nameOf = nameSafely(conversation, options.onEvent);
  const adapter = genkitModel();
  const compactor = createCompactor<GenkitRequest, GenkitMessage, GenkitReply, Request, Reply>({
    ...shared,
    adapter,
    send: refuseToSend,
  });
  const call = { compactor, readUsage: adapter.usage };

  // Genkit counts the parameters: with three of them it passes the options, too.
  async function middleware<R extends Request, Options extends GenkitCallOptions | undefined, P extends Reply>(
    request: R,
    callOptions: Options,
    next: (request: R, options: Options) => Promise<P>,
  ): Promise<P> {
    const send: Send<Request, P> = (prepared, { purpose, signal }) =>
      next(
        joinReplacementTexts(prepared as R, request), // made of this very request, and of its type
        purpose === 'summary' ? privateOptions(callOptions, signal) : callOptions,
      );
    const reply = await sendChecked(call, request, send, {
      send,
      signal: callOptions?.abortSignal,
      conversation: nameOf(request),
    });
    return reply as P; // the reply comes back untouched
  }
  return Object.assign(middleware, { compactor });
}

/** Chunks go nowhere. A request that was to be streamed still is: plugins refuse to wait long for one that is not. */
function privateOptions<Options extends GenkitCallOptions | undefined>(options: Options, signal: AbortSignal): Options {
  const hidden: GenkitCallOptions = { ...options, abortSignal: signal, ...(options?.onChunk && { onChunk: () => {} }) };
  return hidden as Options; // the same fields
}
