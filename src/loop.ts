import type { FinishReason } from './adapters/adapter.ts';
import type { BudgetEstimate } from './budget/estimate.ts';
import { CompactionError } from './errors.ts';
import { notify } from './events.ts';
import { copyDeep } from './history/copy.ts';
import { messagesOf } from './history/reading.ts';
import type { ManualCompaction, Subject } from './launch.ts';
import { type CompactionResult, checkBeforeRequest, compactNow, reconcile, render } from './machine.ts';
import type { Message, ToolCallPart } from './message.ts';
import { observeUsage } from './observe.ts';
import type { CompactorOptions } from './options.ts';
import { applyOverlay, createTrack, type Track } from './overlay.ts';
import { normalizeReply } from './reply.ts';
import { estimateInspection, inspect, readRaw, resolveOptions, type Settings } from './settings.ts';
import { type ConversationSnapshot, createSnapshot, restoreSnapshot } from './snapshot.ts';

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

/** A reply as it was appended. */
export interface AppendedReply {
  text: string;
  finish: FinishReason;
  /** The calls to run. Empty where the reply did not end normally. */
  calls: ToolCallPart[];
}

/**
 * Owns the history of one agent and keeps it inside the window: `prepare()` or `send()` compacts where it is due and installs the
 * replacement in one transaction. Whatever fails before the host's `commit` is fulfilled leaves the history as it was.
 *
 * @example
 * const loop = new AutoCompactingLoop(request, { adapter: openaiChat(), contextWindow: 128_000, send });
 * for (let calls = [firstCall]; calls.length > 0; ) {
 *   const { calls: next } = await loop.appendReply(await loop.send());
 *   loop.append(await runTools((calls = next)));
 * }
 */
export class AutoCompactingLoop<Request, Item, Reply> {
  readonly #settings: Settings<Request, Item, Reply>;
  #track: Track<Request, Item>;
  #request: Request;

  /**
   * @throws CompactionError `invalid-options`; `invalid-request` for a request that cannot be read.
   */
  constructor(request: Request, options: CompactorOptions<Request, Item, Reply, Request, Reply>, state: LoopState = {}) {
    this.#settings = resolveOptions(options);
    this.#track = state.snapshot ? restoreSnapshot(this.#settings.adapter, state.snapshot) : createTrack(state.conversation);
    this.#request = request;
    readRaw(this.#settings, request);
  }

  /** The native request as it would be sent now, its conversation a fresh array of the very same items. */
  get request(): Request {
    const { adapter } = this.#settings;
    return adapter.withItems(this.#request, adapter.items(this.#request));
  }

  /** The conversation in neutral form, a copy. */
  get history(): Message[] {
    const { leading, body } = readRaw(this.#settings, this.#request);
    return copyDeep(messagesOf([...leading, ...body]));
  }

  /** The size of the request against its budget. */
  estimate(): BudgetEstimate {
    const inspection = inspect(this.#settings, this.#track, readRaw(this.#settings, this.#request));
    return estimateInspection(this.#settings, this.#track, inspection);
  }

  /** Adds native items: input of the user, tool results. Also while a summary is written: they stay behind it, in order. */
  append(items: readonly Item[]): void {
    for (const item of items) this.#settings.read(item);
    const { adapter } = this.#settings;
    this.#request = adapter.withItems(this.#request, [...adapter.items(this.#request), ...items]);
  }

  /**
   * Reads a reply, object or stream, and adds it: repaired where the provider would refuse it, without calls where it did not end
   * normally. Nothing is added where reading fails.
   */
  async appendReply(
    reply: Reply,
    options: { signal?: AbortSignal | undefined; onText?: ((text: string) => void) | undefined } = {},
  ): Promise<AppendedReply> {
    const { adapter, onEvent } = this.#settings;
    const track = this.#track;
    const summary = await adapter.readReply(reply, options);
    const { items, calls, repairs } = normalizeReply(adapter, summary);
    if (track !== this.#track) throw new CompactionError('reset', 'The loop was reset while the reply was read.');
    if (summary.usage) observeUsage(this.#settings, track, this.#request, summary.usage.inputTokens);
    this.append(items);
    if (repairs.length > 0)
      notify(onEvent, { type: 'notice', conversation: track.conversation, code: 'repaired', message: repairs.join(' ') });
    return { text: summary.text, finish: summary.finish, calls: copyDeep([...calls]) };
  }

  /** Compacts where it is due and returns the request to send. */
  async prepare(options: LoopRequestOptions<Request> = {}): Promise<Request> {
    const { adapter } = this.#settings;
    await checkBeforeRequest(this.#settings, this.#subject(this.#track), {
      signal: options.signal,
      oneShot: options.oneShot ?? false,
    });
    const request = render(this.#settings, this.#track, this.request);
    return options.params ? adapter.withItems({ ...request, ...options.params }, adapter.items(request)) : request;
  }

  /** `prepare()`, then the host's `send`. Appends nothing. */
  async send(options: LoopRequestOptions<Request> = {}): Promise<Reply> {
    const { send, adapter } = this.#settings;
    if (!send) throw new CompactionError('invalid-options', 'Expected `send` to be given: the loop was asked to send.');
    const request = await this.prepare(options);
    const track = this.#track;
    const signal = options.signal ?? new AbortController().signal;
    const reply = await send(request, { signal, purpose: 'turn', conversation: track.conversation, attempt: 1 });
    if (track === this.#track) observeUsage(this.#settings, track, request, adapter.usage(reply)?.inputTokens);
    return reply;
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
  update({ system, params }: { system?: string | undefined; params?: Partial<Request> | undefined }): void {
    const { adapter } = this.#settings;
    const items = adapter.items(this.#request);
    const changed = adapter.withItems({ ...this.#request, ...params }, items);
    this.#request = system === undefined ? changed : adapter.withSystem(changed, system);
  }

  /** Starts over with another request, by default the same without its conversation. A compaction under way is discarded. */
  reset(request?: Request): void {
    const { adapter } = this.#settings;
    const next =
      request ??
      adapter.withItems(
        this.#request,
        readRaw(this.#settings, this.#request).leading.map(({ item }) => item),
      );
    readRaw(this.#settings, next);
    this.#track.flight?.discard();
    this.#track = createTrack(this.#track.conversation);
    this.#request = next;
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
    return createSnapshot(this.#track.conversation, this.#track);
  }

  #subject(track: Track<Request, Item>): Subject<Request, Item> {
    return {
      track,
      current: () => this.#request,
      fold: (overlay) => {
        if (track !== this.#track) return;
        this.#request = applyOverlay(readRaw(this.#settings, this.#request), overlay, this.#settings).view.request;
      },
    };
  }
}
