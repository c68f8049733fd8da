import type { FinishReason, Usage } from './adapters/adapter.ts';
import type { BudgetEstimate } from './budget/estimate.ts';
import { copyDeep } from './copy.ts';
import { CompactionError } from './errors.ts';
import { notify } from './events.ts';
import { type FitResult, fitToWindow } from './fit.ts';
import { messagesOf } from './history/reading.ts';
import { estimateInspection, inspect, readRaw } from './inspection.ts';
import type { ManualCompaction } from './launch.ts';
import { type CompactionResult, checkBeforeRequest, compactNow, reconcile } from './machine.ts';
import { type Message, type ToolCallPart, textOf } from './message.ts';
import { observeUsage } from './observe.ts';
import type { CompactorOptions, Send } from './options.ts';
import { createTrack, type Track } from './overlay.ts';
import { OwnedRequest } from './owned-request.ts';
import { recoverFromOverflow, sendAndRecover } from './recover.ts';
import { normalizeReply } from './reply.ts';
import { resolveOptions, type Settings } from './settings.ts';
import { type ConversationSnapshot, createSnapshot, restoreSnapshot } from './snapshot.ts';
import type { Subject } from './subject.ts';
import { validateLoopRequest } from './validate-call.ts';

export interface LoopState {
  /** Names the conversation in events, commits and `send`. */
  conversation?: string | undefined;
  /** State of an earlier loop over the same history. */
  snapshot?: ConversationSnapshot | undefined;
}

export interface LoopRequestOptions<Request> {
  signal?: AbortSignal | undefined;
  /** Fields of this one request, apart from the conversation. */
  params?: Partial<Request> | undefined;
  /** This request is no part of the conversation's work: never compact before it. */
  oneShot?: boolean | undefined;
}

/** The caller's own type of an item, where the conversation stands under its usual name. */
export type ItemOf<Request, Item> = Request extends { messages: readonly (infer Own)[] }
  ? Own
  : Request extends { input: readonly (infer Own)[] }
    ? Own
    : Item;

/** A reply as it was appended. */
export interface AppendedReply<Item> {
  /** What the user may see of it, without reasoning. */
  text: string;
  finish: FinishReason;
  /** The calls to run. Empty where the reply did not end normally. */
  calls: ToolCallPart[];
  /** The native items that were added. */
  items: Item[];
  /** What the provider says that the reply took. */
  usage?: Usage | undefined;
}

/**
 * Owns the history of one agent and keeps it inside the window: `prepare()` or `send()` compacts where it is due and installs the
 * replacement in one transaction. Whatever fails before the host's `commit` is fulfilled leaves the history as it was.
 *
 * @example
 * const loop = new AutoCompactingLoop(request, { adapter: openaiChat(), contextWindow: 128_000, send });
 * let reply = await loop.appendReply(await loop.send());
 * while (reply.calls.length > 0) {
 *   loop.append(await runTools(reply.calls)); // native items: here { role: 'tool', tool_call_id, content }
 *   reply = await loop.appendReply(await loop.send());
 * }
 */
export class AutoCompactingLoop<Request, Item, Reply> {
  readonly #settings: Settings<Request, Item, Reply>;
  #track: Track<Request, Item>;
  readonly #request: OwnedRequest<Request, Item, Reply>;
  /** The last request that was prepared: usage in the next reply is about this one. */
  #prepared: Request | undefined;

  /**
   * @throws CompactionError `invalid-options`; `invalid-request` for a request that cannot be read.
   */
  constructor(
    // What a declared `send` takes: a request that is written down in place says less. Other `send`s take their type from the request.
    request: unknown extends Request ? never : NoInfer<Request>,
    options: CompactorOptions<NoInfer<Request>, Item, NoInfer<Reply>, Request, Reply> & { send: Send<Request, Reply> },
    state?: LoopState,
  );
  constructor(
    request: Request,
    // The bounds of the adapter are wider than what is sent.
    options: CompactorOptions<NoInfer<Request>, Item, NoInfer<Reply>, Request, Reply>,
    state?: LoopState,
  );
  constructor(request: Request, options: CompactorOptions<Request, Item, Reply, Request, Reply>, state: LoopState = {}) {
    this.#settings = resolveOptions(options);
    this.#track = state.snapshot ? restoreSnapshot(this.#settings, state.snapshot) : createTrack(state.conversation);
    this.#request = new OwnedRequest(this.#settings, request);
  }

  /** The native request as it would be sent now, its conversation a fresh array of the very same items. */
  get request(): Request {
    return this.#request.current();
  }

  /** The conversation in neutral form, a copy. */
  get history(): Message[] {
    const { leading, body } = readRaw(this.#settings, this.request);
    return copyDeep(messagesOf([...leading, ...body]));
  }

  /** The size of the request against its budget. */
  estimate(): BudgetEstimate {
    const inspection = inspect(this.#settings, this.#track, readRaw(this.#settings, this.request));
    return estimateInspection(this.#settings, inspection);
  }

  /** Adds native items: input of the user, tool results. Also while a summary is written: they stay behind it, in order. */
  append(items: readonly (ItemOf<Request, Item> | Item)[]): void {
    if (!Array.isArray(items))
      throw new CompactionError(
        'invalid-request',
        `Expected an array of native items, got ${items === null ? 'null' : typeof items}.`,
      );
    // The caller's own items are of the kind that the adapter reads: it was given for their requests.
    this.#request.append(items as readonly Item[]);
  }

  /**
   * Reads a reply, object or stream, and adds it: repaired where the provider would refuse it, without calls where it did not end
   * normally. Nothing is added where reading fails.
   *
   * @throws CompactionError `invalid-request` for what is no reply; what `signal` was aborted with.
   */
  async appendReply(
    reply: Reply,
    options: { signal?: AbortSignal | undefined; onText?: ((text: string) => void) | undefined } = {},
  ): Promise<AppendedReply<ItemOf<Request, Item>>> {
    const { adapter } = this.#settings;
    const track = this.#track;
    const summary = await adapter.readReply(reply, options);
    const { items, calls, repairs } = normalizeReply(adapter, summary);
    if (track !== this.#track) throw new CompactionError('reset', 'The loop was reset while the reply was read.');
    this.#observe(track, this.#prepared ?? this.request, () => summary.usage);
    this.#request.append(items);
    this.#reportRepairs(repairs);
    const text = items
      .flatMap((item) => adapter.readItem(item))
      .map(textOf)
      .join('\n');
    return {
      text,
      finish: summary.finish,
      usage: summary.usage && { ...summary.usage },
      calls: copyDeep([...calls]),
      // The caller's own items are of the kind that the adapter writes: it was given for their requests.
      items: [...items] as ItemOf<Request, Item>[],
    };
  }

  /** Compacts where it is due and returns the request to send. */
  async prepare(options: LoopRequestOptions<Request> = {}): Promise<Request> {
    validateLoopRequest(options);
    const { signal, params, oneShot = false } = options;
    await checkBeforeRequest(this.#settings, this.#subject(this.#track, params), { signal, oneShot });
    const prepared = this.#request.render(this.#track, params);
    if (!oneShot) this.#prepared = prepared;
    return prepared;
  }

  /** `prepare()`, then the host's `send`. Appends nothing. */
  async send(options: LoopRequestOptions<Request> = {}): Promise<Reply> {
    const { send, adapter } = this.#settings;
    if (!send) throw new CompactionError('invalid-options', 'Expected `send` to be given: the loop was asked to send.');
    const { oneShot = false } = options;
    const request = await this.prepare(options);
    const track = this.#track;
    const signal = options.signal ?? new AbortController().signal;
    const sendTurn = async (turn: Request, attempt: number): Promise<Reply> => {
      const reply = await send(turn, { signal, purpose: 'turn', conversation: track.conversation, attempt });
      if (!oneShot) this.#observe(track, turn, () => adapter.usage(reply)); // a one-shot tells nothing of the conversation
      return reply;
    };
    return sendAndRecover(request, sendTurn, async (error) => {
      if (oneShot || track !== this.#track) return undefined;
      const render = (): Request => this.#request.render(this.#track, options.params);
      const turn = { error, sent: request, render, signal: options.signal };
      const smaller = await recoverFromOverflow(this.#settings, this.#subject(track, options.params), turn);
      if (smaller !== undefined) this.#prepared = smaller;
      return smaller;
    });
  }

  /**
   * Compacts where the request is at or over the threshold of its model's window, whatever the gates of turns and earlier failures say.
   * These are forgotten: call it after `update()` with another model.
   *
   * @throws what `signal` was aborted with.
   */
  async fit(options: Omit<LoopRequestOptions<Request>, 'oneShot'> = {}): Promise<FitResult<Request>> {
    validateLoopRequest(options);
    const { signal, params } = options;
    const fitted = await fitToWindow(this.#settings, this.#subject(this.#track, params), signal);
    this.#prepared = this.#request.render(this.#track, params);
    return { ...fitted, request: this.#prepared };
  }

  /**
   * Compacts now.
   *
   * @throws CompactionError, the history unchanged; what `signal` was aborted with.
   */
  compact(manual: ManualCompaction = {}): Promise<CompactionResult<Request>> {
    return compactNow(this.#settings, this.#subject(this.#track), manual);
  }

  /** Changes the system text, or fields of the request such as tools and model; not the conversation. */
  update(change: { system?: string | undefined; params?: Partial<Request> | undefined }): void {
    this.#request.update(change);
  }

  /** Starts over with another request, by default the same without its conversation. A compaction under way is discarded. */
  reset(request?: Request): void {
    this.#request.reset(request);
    this.#track.flight?.discard();
    this.#track = createTrack(this.#track.conversation);
    this.#prepared = undefined;
  }

  /** Cancels a compaction under way, and nothing else. */
  cancelCompaction(): void {
    this.#track.flight?.cancel();
  }

  /** Says how a commit in doubt ended. False where no such commit is in doubt. */
  reconcile(compactionId: string, committed: boolean): boolean {
    return reconcile(this.#track, compactionId, committed);
  }

  /** The state beside the items, as plain data. */
  snapshot(): ConversationSnapshot {
    return createSnapshot(this.#settings.meter, this.#track.conversation, this.#track, this.#request.length);
  }

  #observe(track: Track<Request, Item>, request: Request, usage: () => Usage | undefined): void {
    if (track !== this.#track) return;
    try {
      observeUsage(this.#settings, track, request, usage()?.inputTokens);
    } catch {
      // What cannot be measured is estimated. The reply was paid for, and is never lost for it.
    }
  }

  #subject(track: Track<Request, Item>, params?: Partial<Request>): Subject<Request, Item, Reply> {
    return {
      track,
      current: () => this.#request.current(params), // a larger output cap leaves less for the input
      isCurrent: () => track === this.#track,
      fold: (overlay) => this.#reportRepairs(this.#request.fold(overlay)),
    };
  }

  #reportRepairs(repairs: readonly string[]): void {
    if (repairs.length === 0) return;
    const { conversation } = this.#track;
    notify(this.#settings.onEvent, { type: 'notice', conversation, code: 'repaired', message: repairs.join(' ') });
  }
}
