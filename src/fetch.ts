import { isRegExp } from './any-realm.ts';
import { type Compactor, createCompactor, type PrepareOptions } from './compactor.ts';
import { CompactionError, explainThrown } from './errors.ts';
import { type NoticeCode, notify } from './events.ts';
import { isSigned, withBody } from './fetch/call-init.ts';
import { decodeReply, formatOf } from './fetch/decode-reply.ts';
import { findOtherModelCall, type ModelCall, readModelCall } from './fetch/model-call.ts';
import { callPrivately, headersOfParent, readRefusal } from './fetch/private-call.ts';
import { isWebStream } from './fetch/read-text.ts';
import { watchBody } from './fetch/watch-body.ts';
import { refuseOptions } from './frameworks/refuse-options.ts';
import type { SharedOptions } from './options.ts';

/** What clients call. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Options of a `fetch` that compacts. */
export interface FetchOptions<Shape extends object, Item, Reply> extends SharedOptions<Shape, Item, Reply, Shape, Reply> {
  /** Sends every request, the private ones too. Default: `globalThis.fetch` as it is when it is needed. */
  fetch?: Fetch | undefined;
  /** Names the conversation of a request, for a host that stores compactions under it. Default: it is found by its content. */
  conversation?: ((request: Shape, init: RequestInit) => string | undefined) | undefined;
}

/** A `fetch` with compaction before calls of the model, and the compactor that does it. */
export type CompactingFetch<Shape extends object, Item, Reply> = typeof globalThis.fetch & {
  /** For `plan`, `snapshot`, `restore` and the like. `compact` and `loop` need `summary.send`: they know no address to send to. */
  readonly compactor: Compactor<Shape, Item, Shape, Reply>;
};

/**
 * A `fetch` for an official client. Each call of the model is checked, compacted where it is due, and sent exactly once, but for
 * `recoverOverflow`: those of streaming helpers and tool runners too. Everything else passes through byte for byte, as do calls that need
 * not be rebuilt.
 *
 * The private summary request goes to the same address, with the same headers. Retries, timeouts and aborts stay the client's; its
 * timeout holds for summary and call together. Usage is read as the client reads the reply, which it gets at once.
 *
 * Not touched either: bodies that are no text, `Request` objects, calls with an AWS signature, and conversations that the server holds. The
 * tool runner of Anthropic's client sends the conversation itself with `thread: false`.
 *
 * @throws CompactionError `invalid-options`
 * @example
 * const client = new OpenAI({ fetch: compactingFetch({ adapter: openaiChat(), contextWindow: 128_000 }) });
 */
export function compactingFetch<Shape extends object, Item, Reply>(
  options: FetchOptions<Shape, Item, Reply>,
): CompactingFetch<Shape, Item, Reply> {
  refuseOptions(options, ['send']);
  const { fetch: givenFetch, conversation: nameOf, ...shared } = options;
  const { adapter, onEvent } = shared;
  const compactor = createCompactor<Shape, Item, Reply, Shape, Reply>({ ...shared, send: refuse });
  const endpoint = checkOptions(options);
  const told = new Set<NoticeCode>();

  async function call(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const send: Fetch = givenFetch ?? globalThis.fetch;
    const parent = readModelCall<Shape>(endpoint, input, init);
    const other = parent ? undefined : findOtherModelCall(endpoint, input, init);
    if (other !== undefined) tellOnce('other-endpoint', `${other} is no call of ${adapter.name}`);
    const turn = parent && (await prepare(parent, send));
    if (!turn) return send(input, init);
    const response = await send(input, turn.init);
    if (response.ok) return watch(turn, response);
    const smaller = await recover(parent, turn, response);
    if (!smaller) return response;
    response.body?.cancel().catch(() => undefined); // nobody reads it
    const second = await send(input, smaller.init);
    return second.ok ? watch(smaller, second) : second;
  }

  function watch(turn: Turn<Shape, Reply>, response: Response): Response {
    return watchBody(response, (texts) => void observe(turn, response, texts));
  }

  /** The smaller call in place of one that the provider found too long; undefined where its answer is the caller's. */
  async function recover(
    parent: ModelCall<Shape>,
    { options: callOptions }: Turn<Shape, Reply>,
    response: Response,
  ): Promise<Turn<Shape, Reply> | undefined> {
    // Others cannot be read twice.
    if (!shared.recoverOverflow || !isWebStream(response.body)) return undefined;
    const { request, init } = parent;
    const error: unknown = await readRefusal(response.clone()).catch((reason: unknown) => reason);
    const smaller = await compactor.recover(request, error, callOptions);
    if (smaller === undefined) return undefined;
    return { request: smaller, options: callOptions, init: withBody(init, smaller, headersOfParent) };
  }

  /** The call as it goes out; undefined where it must not be touched. What fails here is never the reason why it is lost. */
  async function prepare(parent: ModelCall<Shape>, send: Fetch): Promise<Turn<Shape, Reply> | undefined> {
    const { request, init } = parent;
    const signal = init.signal ?? undefined;
    try {
      if (adapter.context(request).serverHeld) return tellOnce('server-held', "The history is the server's");
      if (isSigned(init)) return tellOnce('unreadable-request', 'The body of a request is signed');
      const conversation = nameOf?.(request, init);
      const callOptions: PrepareOptions<Shape, Reply> = {
        signal,
        conversation,
        // The answer to a request of the adapter's shape has the shape of its replies.
        send: (summary, context) => callPrivately(send, parent, summary, context.signal) as Promise<Reply>,
      };
      const prepared = await compactor.prepare(request, callOptions);
      const rebuilt = prepared === request ? init : withBody(init, prepared, ['content-length']);
      return { request: prepared, options: callOptions, init: rebuilt };
    } catch (error) {
      signal?.throwIfAborted();
      const message = `The request goes out as it is: ${explainThrown(error)}`;
      notify(onEvent, { type: 'notice', code: 'unreadable-request', message });
      return undefined;
    }
  }

  /** Once for the client: its conversations cannot be told apart. */
  function tellOnce(code: NoticeCode, reason: string): undefined {
    if (told.has(code)) return;
    told.add(code);
    notify(onEvent, { type: 'notice', code, message: `${reason}: requests pass through uncompacted.` });
  }

  /** A reply that did not end, or cannot be read, is no measurement: its counts may be placeholders. */
  async function observe(turn: Turn<Shape, Reply>, response: Response, texts: AsyncIterable<string>): Promise<void> {
    try {
      // As for the summary: a reply of the adapter's shape.
      const reply = (await decodeReply(texts, formatOf(response, turn.request))) as Reply;
      const { finish, usage } = await adapter.readReply(reply);
      if (usage && finish !== 'incomplete') compactor.observe(turn.request, { usage }, turn.options);
    } catch {
      // The caller reads it, too, and hears of it.
    }
  }

  return Object.assign(call, { compactor });
}

/** A call of the model as it goes out. */
interface Turn<Shape, Reply> extends Pick<ModelCall<Shape>, 'request' | 'init'> {
  /** What the compactor is told of it. */
  options: PrepareOptions<Shape, Reply>;
}

/** For compactions by hand. Those of a call go where the call goes. */
async function refuse(): Promise<never> {
  throw new CompactionError('invalid-options', 'Expected `summary.send` to be given: by hand, no address to send to is known.');
}

/** Gives back which paths are calls of the model. */
function checkOptions<Shape extends object, Item, Reply>(options: FetchOptions<Shape, Item, Reply>): RegExp {
  for (const name of ['fetch', 'conversation'] as const) {
    const value: unknown = options[name];
    if (value !== undefined && typeof value !== 'function')
      throw new CompactionError('invalid-options', `Expected \`${name}\` to be a function, got ${typeof value}.`);
  }
  const { endpoint, name } = options.adapter;
  if (isRegExp(endpoint)) return endpoint;
  throw new CompactionError(
    'invalid-options',
    `Expected \`adapter.endpoint\` to be a regular expression, got ${typeof endpoint}: requests of ${name} are no bodies of HTTP.`,
  );
}
