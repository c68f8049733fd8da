import type { BudgetEstimate } from './budget/estimate.ts';
import { checkNames } from './check-options.ts';
import { explainThrown } from './errors.ts';
import { type CompactionObserver, notify } from './events.ts';
import { explainUnfit, type FitResult, fitToWindow } from './fit.ts';
import { countReminders } from './history/replaced.ts';
import { endMark, type Mark, type RequestView } from './history/view.ts';
import { estimateInspection, inspect, readRaw } from './inspection.ts';
import type { ManualCompaction } from './launch.ts';
import { AutoCompactingLoop, type LoopState } from './loop.ts';
import { type CompactionResult, checkBeforeRequest, compactNow, reconcile, render } from './machine.ts';
import { observeUsage, observeView } from './observe.ts';
import type { Commit, CompactorOptions, Send } from './options.ts';
import type { Track } from './overlay.ts';
import { type CompactionPlan, planCompaction } from './plan.ts';
import { recoverFromOverflow } from './recover.ts';
import { resolveOptions } from './settings.ts';
import { type ConversationSnapshot, createSnapshot, restoreSnapshot } from './snapshot.ts';
import { createTrackStore } from './track-store.ts';
import { validateCheck } from './validate-call.ts';

/** Which conversation a request belongs to. It is found by its content, among those of its name. */
export interface ConversationOption {
  /** Several may share one: the agents of a thread, a chat and the making of its title. */
  conversation?: string | undefined;
}

/** Of one request that is checked. */
export interface CheckOptions extends ConversationOption {
  signal?: AbortSignal | undefined;
  /** This request is no part of a conversation's work, for instance the making of a title: never compact before it. */
  oneShot?: boolean | undefined;
}

/** Of one request that is prepared. */
export interface PrepareOptions<Request, Reply> extends CheckOptions {
  /**
   * Sends the summary request, instead of the compactor's own `send`: for a middleware, whose next step differs from call to call.
   * `summary.send` goes before it.
   */
  send?: Send<Request, Reply> | undefined;
}

/** What a reply says of itself. */
export interface ObservedReply {
  usage: { inputTokens: number; outputTokens?: number | undefined; responseId?: string | undefined };
  /** The id under which the server holds it, where the next request may go on from there. Default: that of `usage`. */
  responseId?: string | undefined;
}

/** Of a loop, beside the compactor's own. */
export interface LoopOptions<Request> extends LoopState {
  /** Instead of the compactor's own. */
  commit?: Commit<Request> | undefined;
  /** Instead of the compactor's own. */
  onEvent?: CompactionObserver | undefined;
}

/** Keeps the requests of any number of conversations inside the window. The callers keep their own histories. */
export interface Compactor<Shape, Item, Request extends Shape, Reply> {
  /** The size of a request against its budget, with what is known of its conversation. Synchronous. */
  estimate(request: Request, options?: ConversationOption): BudgetEstimate;
  /** A dry run of `prepare`: would it compact, and if not, which gate is closed. */
  plan(request: Request, options?: CheckOptions): Promise<CompactionPlan>;
  /**
   * Checks, maybe compacts, and returns the request to send: the very same object unless a replacement stands for a part of it. A
   * compaction that fails changes nothing and is told through `onEvent` alone.
   *
   * @throws what `signal` was aborted with.
   */
  prepare<R extends Request>(request: R, options?: PrepareOptions<Request, Reply>): Promise<R>;
  /**
   * Compacts now, whatever the gates say. Later requests of the conversation are compacted too.
   *
   * @throws CompactionError, nothing changed; what `signal` was aborted with.
   */
  compact<R extends Request>(request: R, options?: ManualCompaction & ConversationOption): Promise<CompactionResult<R>>;
  /**
   * For the first request to another model, whose window may be smaller: compacts where it is at or over the threshold, whatever the gates
   * of turns and earlier failures say. These are forgotten, so call it where the model changes, and not before each request.
   *
   * @throws what `signal` was aborted with.
   * @example
   * const { request, outcome } = await compactor.fit({ ...current, model: 'smaller' });
   */
  fit<R extends Request>(request: R, options?: Omit<PrepareOptions<Request, Reply>, 'oneShot'>): Promise<FitResult<R>>;
  /**
   * For a host that sends by itself, with `recoverOverflow`: takes what the provider refused `request` with, which is the one given to
   * `prepare`. Where it was too long, compacts and gives back a smaller one to send once. Undefined where nothing was gained.
   *
   * @throws what `signal` was aborted with.
   */
  recover<R extends Request>(request: R, error: unknown, options?: PrepareOptions<Request, Reply>): Promise<R | undefined>;
  /**
   * Takes the usage of a streamed reply, which the library does not read. `request` is the one given to or returned by `prepare`; its
   * conversation may have grown since. Never throws: what cannot be measured is estimated.
   */
  observe(request: Request, reply: ObservedReply, options?: ConversationOption): void;
  /** A loop that owns the history, starting with the one in `request`. */
  loop(request: Request, options?: LoopOptions<Request>): AutoCompactingLoop<Request, Item, Reply>;
  /** The state of the conversation that a request belongs to, without its items. */
  snapshot(request: Request, options?: ConversationOption): ConversationSnapshot;
  /** Takes up the state of a conversation from another process. */
  restore(snapshot: ConversationSnapshot): void;
  /** Says how a commit in doubt ended. False where no such commit is in doubt. */
  reconcile(compactionId: string, committed: boolean): boolean;
}

/** A request as it was read, and whose it is. */
interface Located<Request, Item> {
  view: RequestView<Request, Item>;
  track: Track<Request, Item>;
  /** Where the track was with this request. */
  place: Mark;
}

/**
 * Embeds compaction in an existing agent.
 *
 * @throws CompactionError `invalid-options`
 * @example
 * const compactor = createCompactor({
 *   adapter: openaiChat(),
 *   contextWindow: 128_000,
 *   send: (request: OpenAI.ChatCompletionCreateParamsNonStreaming, { signal }) => client.chat.completions.create(request, { signal }),
 * });
 * const reply = await client.chat.completions.create(await compactor.prepare({ model, messages, tools }));
 */
export function createCompactor<Shape, Item, ReplyShape, Request extends Shape, Reply extends ReplyShape>(
  options: CompactorOptions<Shape, Item, ReplyShape, Request, Reply>,
): Compactor<Shape, Item, Request, Reply> {
  const settings = resolveOptions(options);
  const store = createTrackStore<Request, Item>((view) => {
    // What comes after the history of the server is new in each request, and nothing tells where in it.
    if (view.context.serverHeld !== undefined) return endMark(view, view.body.length - 1);
    return endMark(view, countReminders(view.body, settings.isUserInput));
  });
  /** What was sent for a request that was handed in or out. */
  const sent = new WeakMap<object, Located<Request, Item>>();

  function find(request: Request, conversation: string | undefined): Located<Request, Item> {
    const view = readRaw(settings, request);
    return locate(view, store.find(view, conversation));
  }

  function peek(request: Request, conversation: string | undefined): Located<Request, Item> {
    const view = readRaw(settings, request);
    return locate(view, store.peek(view, conversation));
  }

  function locate(view: RequestView<Request, Item>, track: Track<Request, Item>): Located<Request, Item> {
    return { view, track, place: track.seen };
  }

  /** The request as it goes out, and remembered for what is said of it later. */
  function show<R extends Request>(request: R, track: Track<Request, Item>, place: Mark): R {
    const rendered = render(settings, track, request);
    const located = { track, view: rendered.view, place };
    for (const known of [request, rendered.request]) if (isObject(known)) sent.set(known, located);
    // Adapters give back the request's own type: they copy it and change the conversation alone.
    return rendered.request as R;
  }

  async function prepare<R extends Request>(request: R, callOptions: PrepareOptions<Request, Reply> = {}): Promise<R> {
    validateCheck(callOptions);
    const { signal, oneShot = false, conversation, send } = callOptions;
    signal?.throwIfAborted();
    try {
      const { track, view: raw, place } = oneShot ? peek(request, conversation) : find(request, conversation);
      await checkBeforeRequest(settings, { track, current: () => request, send }, { signal, oneShot, raw });
      return show(request, track, place);
    } catch (error) {
      signal?.throwIfAborted();
      const message = `The request goes out as it is: ${explainThrown(error)}`;
      notify(settings.onEvent, { type: 'notice', conversation, code: 'unreadable-request', message });
      return request;
    }
  }

  return {
    prepare,
    estimate(request, { conversation } = {}) {
      const { view, track } = peek(request, conversation);
      return estimateInspection(settings, inspect(settings, track, view));
    },
    async plan(request, callOptions = {}) {
      validateCheck(callOptions);
      const { oneShot = false, conversation } = callOptions;
      return planCompaction(settings, peek(request, conversation).track, request, oneShot);
    },
    async compact<R extends Request>(request: R, { conversation, ...manual }: ManualCompaction & ConversationOption = {}) {
      const { track } = find(request, conversation);
      // As in prepare: the rebuilt request has the type of the one that came in.
      return (await compactNow(settings, { track, current: () => request }, manual)) as CompactionResult<R>;
    },
    async fit<R extends Request>(
      request: R,
      callOptions: Omit<PrepareOptions<Request, Reply>, 'oneShot'> = {},
    ): Promise<FitResult<R>> {
      validateCheck(callOptions);
      const { signal, conversation, send } = callOptions;
      signal?.throwIfAborted();
      try {
        const { track, place } = find(request, conversation);
        const fitted = await fitToWindow(settings, { track, current: () => request, send }, signal);
        return { ...fitted, request: show(request, track, place) };
      } catch (error) {
        signal?.throwIfAborted();
        return { ...explainUnfit(error), request };
      }
    },
    async recover<R extends Request>(
      request: R,
      error: unknown,
      callOptions: PrepareOptions<Request, Reply> = {},
    ): Promise<R | undefined> {
      validateCheck(callOptions);
      const { signal, oneShot = false, conversation, send } = callOptions;
      signal?.throwIfAborted();
      if (oneShot || !settings.recoverOverflow) return undefined;
      try {
        const refused = (isObject(request) && sent.get(request)?.view.request) || request;
        const { track, place } = find(request, conversation);
        const subject = { track, current: () => request, send };
        const turn = { error, sent: refused, render: () => show(request, track, place), signal };
        // As in prepare: the rebuilt request has the type of the one that came in.
        return (await recoverFromOverflow(settings, subject, turn)) as R | undefined;
      } catch {
        signal?.throwIfAborted();
        return undefined; // what cannot be read is not recovered
      }
    },
    observe(request, reply, { conversation } = {}) {
      try {
        const { usage, responseId } = reply;
        const { inputTokens } = usage;
        const held = { ...usage, responseId: responseId ?? usage.responseId };
        const known = isObject(request) ? sent.get(request) : undefined;
        const { track, place, view } = known ?? find(request, conversation);
        const history = known
          ? observeView(settings, track, view, inputTokens, held)
          : observeUsage(settings, track, request, inputTokens, held);
        if (history) store.hold(track, place, history);
      } catch {
        // What cannot be measured is estimated: the reply was paid for, and is never lost for it.
      }
    },
    loop(request, { commit = options.commit, onEvent = options.onEvent, ...state } = {}) {
      checkNames(state, ['conversation', 'snapshot']);
      return new AutoCompactingLoop<Request, Item, Reply>(request, { ...options, commit, onEvent }, state);
    },
    snapshot(request, { conversation } = {}) {
      return createSnapshot(
        settings.meter,
        conversation,
        peek(request, conversation).track,
        settings.adapter.items(request).length,
      );
    },
    restore(snapshot) {
      store.add(restoreSnapshot(settings, snapshot));
    },
    reconcile: (compactionId, committed) =>
      store.tracks().filter((track) => reconcile(track, compactionId, committed)).length > 0,
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
