import type { Message, Part, ToolCallPart, ToolResultPart } from '../message.ts';

/** Whose tokenizer and image prices apply where the model's name does not tell. */
export type TokenFamily = 'openai' | 'anthropic' | 'google' | 'generic';

/** Tokens as a provider reports them. `inputTokens` is the whole input: cached tokens are counted in it exactly once. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  /** The part of the input that was read from the prompt cache. */
  cachedInputTokens?: number;
  /** The part of the input that was written to the prompt cache. */
  cacheWriteTokens?: number;
  /** The part of the output that was reasoning. */
  reasoningTokens?: number;
  /** The reply that this was counted for, where the server holds it under an id that requests may go on from. No number: never added up. */
  responseId?: string;
}

/** What surrounds the conversation in a request. */
export interface RequestContext {
  model?: string | undefined;
  /** System text that stands beside the messages, in the provider's own form; absent where it is a message. */
  system?: unknown;
  /** Tool definitions in the provider's own form; absent or empty where there are none. */
  tools?: unknown;
  /** The request's output cap in tokens, where the provider counts it against the window. */
  outputCap?: number | undefined;
  /** Why the conversation must not be touched now, for instance `pause_turn`. */
  pending?: string | undefined;
  /** Why the history is the server's, for instance `conversation`: such requests pass through. */
  serverHeld?: string | undefined;
  /**
   * Why the beginning of the history, for which the first item stands, is the server's, for instance `previous_response_id`. Such requests
   * pass through, too, but where the library has seen all that the server holds: see `heldItem`.
   */
  heldBefore?: string | undefined;
}

export interface ForkOptions {
  /** Output cap of the summary in tokens, without reasoning. */
  maxTokens: number;
  /** Reasoning effort, one of `efforts`; as in the parent's request where absent. */
  effort?: string | undefined;
  /** `low`, `medium` or `high`; as in the parent's request where absent. Left out where the shape has no such parameter. */
  verbosity?: string | undefined;
}

/** A private summary request, and what had to be changed that the prompt cache can see. */
export interface SummaryFork<Request> {
  request: Request;
  /** Empty where the prefix is the parent's, byte for byte. Otherwise one reason for each change, for instance `response_format`. */
  changed: readonly string[];
}

/** How a reply ended. Only `stop` is a natural end. */
export type FinishReason =
  | 'stop'
  | 'length'
  | 'tool-calls'
  | 'refusal'
  | 'content-filter'
  | 'pause'
  | 'overflow'
  /** The stream ended, or was cut, without saying how. */
  | 'incomplete'
  | 'other';

/** A whole reply, read from an object or a stream. */
export interface ReplySummary<Item> {
  /** Visible text after the last tool activity, without reasoning. */
  text: string;
  finish: FinishReason;
  /** Calls the caller would have to answer. */
  calls: readonly ToolCallPart[];
  /** The reply as native items, ready to be appended to the conversation. */
  items: readonly Item[];
  usage?: Usage | undefined;
}

export interface ReadReplyOptions {
  signal?: AbortSignal | undefined;
  /** Called with each piece of visible text as it comes. */
  onText?: ((text: string) => void) | undefined;
}

export interface PairOptions {
  /** Also for calls that still wait at the end of the conversation, which is over. */
  closeOpen: boolean;
  /** What stands for a result that is missing. */
  missingResult: string;
  /** What stands for a result whose call is missing, as a message of the user. */
  writeOrphan: (result: ToolResultPart) => readonly Part[];
}

export type ErrorClass =
  | { kind: 'overflow'; limit?: number; requested?: number }
  | { kind: 'retryable'; retryAfter?: number /* milliseconds */ }
  | { kind: 'fatal' };

/**
 * What a provider's shape is: translation only, no policy, no I/O, no state but what is derived from the request each time `items`
 * reads it. `Shape`, `Item` and `Reply` are the *bounds* that the adapter needs; every method takes the caller's own request type and gives
 * it back.
 *
 * Items that are kept are the very same objects. What an adapter does not know it carries as `{ type: 'native', value }`.
 */
export interface ProviderAdapter<Shape, Item, Reply> {
  readonly name: string;
  readonly family: TokenFamily;
  /**
   * For `compactingFetch`: matches the path of a URL where the body of a POST is a request of this shape and the answer a reply, whatever
   * stands before it. Not for counting tokens, batches and whatever lies below. Absent where requests are no HTTP bodies, or where streams
   * are neither server-sent events nor one JSON body.
   */
  readonly endpoint?: RegExp | undefined;
  /** True where the provider takes no conversation that the assistant begins. */
  readonly startsWithUser?: boolean | undefined;
  /** True for an item of the assistant that may begin a conversation all the same, such as a compaction of the provider's own. */
  mayBegin?(item: Item): boolean;
  /** Levels of reasoning effort that a request of this shape can ask for, lowest first. Absent where it can ask for none. */
  readonly efforts?: readonly string[] | undefined;
  /** In what the provider takes no id of a call twice. Absent where it takes one anywhere. Calls without an id get one everywhere. */
  readonly uniqueCallIds?: 'request' | 'message' | undefined;

  /** The conversation, in order. Throws a `CompactionError` (`invalid-request`) where it cannot be read. */
  items(request: Shape): readonly Item[];
  /** The same request with another conversation; everything else untouched. Moves or merges turns where the provider demands it. */
  withItems<R extends Shape>(request: R, items: readonly Item[]): R;
  /** The same request with another system text. */
  withSystem<R extends Shape>(request: R, system: string): R;
  context(request: Shape): RequestContext;

  /** One item in neutral form: one message, or several where one item holds several turns (Anthropic: results and text of the user). */
  readItem(item: Item): Message[];
  /**
   * A neutral message as native items. Media and native parts go out as their `value`; blank text is left out. Where a shape has one text
   * for all parts, join the texts without adding a character: a replacement is read back by its parts.
   */
  writeMessage(message: Message): Item[];
  /**
   * The item without what the provider refuses in itself (blank text, unsigned thinking, misplaced blocks): the same object where
   * nothing is wrong, undefined where nothing is left. Pairing of calls and results is not its business.
   */
  repairItem(item: Item): Item | undefined;
  /**
   * The item without reasoning: the same object where there is none, undefined where nothing is left. Reasoning is bound to what stood
   * before it, which a summary replaces.
   */
  withoutReasoning(item: Item): Item | undefined;
  /**
   * True for a request in which a tool loop that is still open must begin with the reasoning that led to it. Absent where no provider of
   * the shape demands that.
   */
  loopNeedsReasoning?(request: Shape): boolean;
  /** The request in which the provider drops reasoning that no longer fits what stands before it. Absent where no provider can. */
  letReasoningDrop?<R extends Shape>(request: R): R;
  /**
   * The items without what the provider refuses beside each other: calls without results, results without calls, halves of pairs of the
   * provider's own. The same array where nothing is wrong. Only for shapes where a result need not stand right behind its call, or where
   * one turn is several items; for all others the library pairs.
   */
  pairItems?(items: readonly Item[], options: PairOptions): readonly Item[];
  /**
   * The items without halves of pairs of the provider's own, which may stand in several items: calls that it runs itself, and what they
   * returned. The same array where nothing is wrong. For shapes that have such pairs and are paired by the library.
   */
  dropLoneHalves?(items: readonly Item[], options: Pick<PairOptions, 'closeOpen'>): readonly Item[];

  /** The request that asks for a summary: the parent's plus one user message at the end. */
  forkForSummary<R extends Shape>(request: R, instruction: string, options: ForkOptions): SummaryFork<R>;
  /** Reads a reply to its end. Rejects with the signal's reason when aborted, and with the provider's error where the stream has one. */
  readReply(reply: Reply, options?: ReadReplyOptions): Promise<ReplySummary<Item>>;
  /**
   * The item that stands for the reply of this id and all before it, as `items` gives it where a request goes on from there. `withItems`
   * makes a request that goes on from nothing where the item is not among those that it is given. It is never sent.
   */
  heldItem?(responseId: string): Item;
  /** Usage of a reply *object*. Undefined for a stream: the caller's stream is never touched. */
  usage(reply: Reply): Usage | undefined;
  classifyError(error: unknown): ErrorClass;
}
