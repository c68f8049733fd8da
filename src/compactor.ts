import type { BudgetEstimate } from './budget/estimate.ts';
import { type CompactionObserver, notify } from './events.ts';
import { countReminders } from './history/replaced.ts';
import { endMark, type RequestView } from './history/view.ts';
import type { ManualCompaction } from './launch.ts';
import { AutoCompactingLoop, type LoopState } from './loop.ts';
import { type CompactionResult, checkBeforeRequest, compactNow, reconcile, render } from './machine.ts';
import { observeUsage, observeView } from './observe.ts';
import type { Commit, CompactorOptions } from './options.ts';
import { createTrackStore, type Track } from './overlay.ts';
import { type CompactionPlan, planCompaction } from './plan.ts';
import { estimateInspection, inspect, readRaw, resolveOptions } from './settings.ts';
import { type ConversationSnapshot, createSnapshot, restoreSnapshot } from './snapshot.ts';

/** Which conversation a request belongs to. Without a name it is found by its content. */
export interface ConversationOption {
  conversation?: string | undefined;
}

export interface PrepareOptions extends ConversationOption {
  signal?: AbortSignal | undefined;
  /** This request is no part of a conversation's work, for instance the making of a title: never compact before it. */
  oneShot?: boolean | undefined;
}

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
  plan(request: Request, options?: PrepareOptions): Promise<CompactionPlan>;
  /**
   * Checks, maybe compacts, and returns the request to send: the very same object unless a replacement stands for a part of it. A
   * compaction that fails changes nothing and is told through `onEvent` alone.
   *
   * @throws what `signal` was aborted with.
   */
  prepare<R extends Request>(request: R, options?: PrepareOptions): Promise<R>;
  /**
   * Compacts now, whatever the gates say. Later requests of the conversation are compacted too.
   *
   * @throws CompactionError, nothing changed; what `signal` was aborted with.
   */
  compact<R extends Request>(request: R, options?: ManualCompaction & ConversationOption): Promise<CompactionResult<R>>;
  /**
   * Takes the usage of a streamed reply, which the library does not read. `request` is the one given to or returned by `prepare`; its
   * conversation may have grown since. Never throws: what cannot be measured is estimated.
   */
  observe(request: Request, reply: { usage: { inputTokens: number } }, options?: ConversationOption): void;
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
  const store = createTrackStore<Request, Item>((view) => endMark(view, countReminders(view.body, settings.isUserInput)));
  /** What was sent for a request that was handed in or out. */
  const sent = new WeakMap<object, Located<Request, Item>>();

  function find(request: Request, conversation: string | undefined): Located<Request, Item> {
    const view = readRaw(settings, request);
    return { view, track: store.find(view, conversation) };
  }

  function peek(request: Request, conversation: string | undefined): Located<Request, Item> {
    const view = readRaw(settings, request);
    return { view, track: store.peek(view, conversation) };
  }

  async function prepare<R extends Request>(
    request: R,
    { signal, oneShot = false, conversation }: PrepareOptions = {},
  ): Promise<R> {
    signal?.throwIfAborted();
    try {
      const { track, view: raw } = oneShot ? peek(request, conversation) : find(request, conversation);
      await checkBeforeRequest(settings, { track, current: () => request }, { signal, oneShot, raw });
      const rendered = render(settings, track, request);
      const located = { track, view: rendered.view };
      for (const known of [request, rendered.request]) if (isObject(known)) sent.set(known, located);
      // Adapters give back the request's own type: they copy it and change the conversation alone.
      return rendered.request as R;
    } catch (error) {
      signal?.throwIfAborted();
      const message = error instanceof Error ? error.message : 'The request cannot be read.';
      notify(settings.onEvent, { type: 'notice', conversation, code: 'unreadable-request', message });
      return request;
    }
  }

  return {
    prepare,
    estimate(request, { conversation } = {}) {
      const { view, track } = peek(request, conversation);
      return estimateInspection(settings, track, inspect(settings, track, view));
    },
    async plan(request, { oneShot = false, conversation } = {}) {
      return planCompaction(settings, peek(request, conversation).track, request, oneShot);
    },
    async compact<R extends Request>(request: R, { conversation, ...manual }: ManualCompaction & ConversationOption = {}) {
      const { track } = find(request, conversation);
      // As in prepare: the rebuilt request has the type of the one that came in.
      return (await compactNow(settings, { track, current: () => request }, manual)) as CompactionResult<R>;
    },
    observe(request, { usage }, { conversation } = {}) {
      try {
        const known = isObject(request) ? sent.get(request) : undefined;
        if (known) observeView(settings, known.track, known.view, usage.inputTokens);
        else observeUsage(settings, find(request, conversation).track, request, usage.inputTokens);
      } catch {
        // What cannot be measured is estimated: the reply was paid for, and is never lost for it.
      }
    },
    loop(request, { commit = options.commit, onEvent = options.onEvent, ...state } = {}) {
      return new AutoCompactingLoop<Request, Item, Reply>(request, { ...options, commit, onEvent }, state);
    },
    snapshot(request, { conversation } = {}) {
      return createSnapshot(conversation, peek(request, conversation).track);
    },
    restore(snapshot) {
      store.add(restoreSnapshot(settings.adapter, snapshot));
    },
    reconcile: (compactionId, committed) =>
      store.tracks().filter((track) => reconcile(track, compactionId, committed)).length > 0,
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
