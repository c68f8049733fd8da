import type { BudgetEstimate } from './budget/estimate.ts';
import { isCompactionError } from './errors.ts';
import { type CompactionObserver, notify } from './events.ts';
import type { RequestView } from './history/view.ts';
import type { ManualCompaction } from './launch.ts';
import { AutoCompactingLoop, type LoopState } from './loop.ts';
import { type CompactionResult, checkBeforeRequest, compactNow, reconcile, render } from './machine.ts';
import { observeUsage } from './observe.ts';
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
  /** Takes the usage of a streamed reply, which the library does not read. `request` is the one given to or returned by `prepare`. */
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
  const store = createTrackStore<Request, Item>();
  /** Whose request an object is that was handed in or out. */
  const owners = new WeakMap<object, Track<Request, Item>>();

  function find(
    request: Request,
    conversation: string | undefined,
  ): { raw: RequestView<Request, Item>; track: Track<Request, Item> } {
    const raw = readRaw(settings, request);
    return { raw, track: store.find(raw, conversation) };
  }

  function remember(request: Request, track: Track<Request, Item>): void {
    if (typeof request === 'object' && request !== null) owners.set(request, track);
  }

  async function prepare<R extends Request>(
    request: R,
    { signal, oneShot = false, conversation }: PrepareOptions = {},
  ): Promise<R> {
    signal?.throwIfAborted();
    try {
      const { track } = find(request, conversation);
      remember(request, track);
      await checkBeforeRequest(settings, { track, current: () => request }, { signal, oneShot });
      const prepared = render(settings, track, request);
      remember(prepared, track);
      // Adapters give back the request's own type: they copy it and change the conversation alone.
      return prepared as R;
    } catch (error) {
      if (!isCompactionError(error) || error.code !== 'invalid-request') throw error;
      notify(settings.onEvent, { type: 'notice', conversation, code: 'unreadable-request', message: error.message });
      return request;
    }
  }

  return {
    prepare,
    estimate(request, { conversation } = {}) {
      const { raw, track } = find(request, conversation);
      return estimateInspection(settings, track, inspect(settings, track, raw));
    },
    plan(request, { oneShot = false, conversation } = {}) {
      return planCompaction(settings, find(request, conversation).track, request, oneShot);
    },
    async compact<R extends Request>(request: R, { conversation, ...manual }: ManualCompaction & ConversationOption = {}) {
      const { track } = find(request, conversation);
      // As in prepare: the rebuilt request has the type of the one that came in.
      return (await compactNow(settings, { track, current: () => request }, manual)) as CompactionResult<R>;
    },
    observe(request, { usage }, { conversation } = {}) {
      const owner = typeof request === 'object' && request !== null ? owners.get(request) : undefined;
      observeUsage(settings, owner ?? find(request, conversation).track, request, usage.inputTokens);
    },
    loop(request, { commit = options.commit, onEvent = options.onEvent, ...state } = {}) {
      return new AutoCompactingLoop<Request, Item, Reply>(request, { ...options, commit, onEvent }, state);
    },
    snapshot(request, { conversation } = {}) {
      const { track } = find(request, conversation);
      return createSnapshot(track.conversation, track);
    },
    restore(snapshot) {
      store.add(restoreSnapshot(settings.adapter, snapshot));
    },
    reconcile: (compactionId, committed) => store.tracks().some((track) => reconcile(track, compactionId, committed)),
  };
}
