import type { ProviderAdapter, Usage } from '../adapters/adapter.ts';
import type { TokenCounter } from '../budget/token-counter.ts';
import type { Notice, Omitted } from '../events.ts';
import type { Message, ToolCallPart } from '../message.ts';

/** What a summarizer is given: the request as it would have been sent, and the means to ask for a summary of it. */
export interface SummaryTask<Request, Item, Reply> {
  readonly trigger: 'automatic' | 'manual';
  readonly request: Request;
  /** The conversation of the request in neutral form. An earlier replacement is in it as the message that it is. */
  readonly messages: readonly Message[];
  /** What the model is asked: the built prompt. */
  readonly instruction: string;
  /** What of it are words of the host and its user, beside or instead of the built-in prompt; absent where there are none. */
  readonly guidance?: string | undefined;
  /** Wanted size of the summary in tokens, at most. */
  readonly maxTokens: number;
  /** How the model is to work on it, where that is not as in the parent's request. */
  readonly effort?: string | undefined;
  readonly verbosity?: string | undefined;
  /** Tokens that the window has left beside the request and the instruction. Below 0 where these alone are too long. */
  readonly roomForOutput: number;
  /** What the conversation may have afterwards in tokens, system items at its start not counted. Absent where that is not known. */
  readonly target?: number | undefined;
  /** The part of the request's size that is an estimate. A tenth of it is kept free, because estimates may be too low. */
  readonly estimatedTokens: number;
  /** Extra attempts after a failure that may pass. */
  readonly retries: number;
  /** Extra attempts with a shorter request, after the provider found one too long. */
  readonly overflowRetries: number;
  readonly countTokens: TokenCounter;
  /** Size of items in tokens, by the meter of the request: media, ids and names too. Items that are measured again cost nothing. */
  readonly countItems: (items: readonly Item[]) => number;
  /** True for what must not be left out: system items, and an earlier replacement, which stands for all before it. */
  readonly isStanding: (item: Item) => boolean;
  readonly adapter: ProviderAdapter<Request, Item, Reply>;
  /** Sends one private request. Rejects promptly on abort, also where the host's `send` ignores its signal. */
  readonly send: (request: Request) => Promise<Reply>;
  readonly signal: AbortSignal;
  /** Text of the summary as it comes. */
  readonly onText?: ((text: string) => void) | undefined;
  /** What came through `onText` so far is void: another attempt begins. */
  readonly onRestart?: (() => void) | undefined;
  /** Called with calls of tools that the model tried in place of a summary. */
  readonly onDenied?: ((calls: readonly ToolCallPart[]) => void) | undefined;
  /** Called with the usage of each private reply, in failure too. */
  readonly onUsage: (usage: Usage) => void;
  /** Called with what is worth knowing though nothing failed. */
  readonly onNotice: (notice: Notice) => void;
}

/** What decides whether a request fits. */
export type SummarySizes<Request, Item, Reply> = Pick<
  SummaryTask<Request, Item, Reply>,
  | 'adapter'
  | 'request'
  | 'instruction'
  | 'effort'
  | 'maxTokens'
  | 'roomForOutput'
  | 'estimatedTokens'
  | 'countTokens'
  | 'countItems'
  | 'isStanding'
>;

/** What goes with a summary. */
interface SummaryFacts {
  /**
   * Why the prompt cache could not be used in full; empty or absent where the summary request repeated the parent's prefix, or none was
   * sent.
   */
  changed?: readonly string[];
  /** Absent where the summarizer was given everything. */
  omitted?: Omitted | undefined;
}

/** A summary as text: it is put into a message of the user. */
export interface WrittenSummary extends SummaryFacts {
  text: string;
  items?: undefined;
}

/** What takes the place of the conversation as it is, for instance the provider's own compaction. */
export interface NativeSummary<Item> extends SummaryFacts {
  items: readonly Item[];
  text?: undefined;
  /** Size of the items in tokens, where the provider tells it: what only the provider can read cannot be counted. */
  tokens?: number | undefined;
}

export type Summary<Item = never> = WrittenSummary | NativeSummary<Item>;

/**
 * Writes the summary of a conversation. Throws a `CompactionError` where no acceptable summary comes.
 *
 * @example
 * const shortest: Summarizer = async ({ messages }) => ({ text: `${messages.length} messages, not summarized.` });
 */
export interface Summarizer {
  <Request, Item, Reply>(task: SummaryTask<Request, Item, Reply>): Promise<Summary<Item>>;
  /**
   * True where it sends on what `request` is, so that history which the server holds is in the summary, too. Default: it reads `messages`.
   */
  readonly asksWithRequest?: boolean | undefined;
  /**
   * For `plan()`: what it would leave out; undefined for nothing. Throws a `CompactionError` where it could not be asked. Default: not
   * known before it is.
   */
  readonly foresee?: (<Request, Item, Reply>(task: SummarySizes<Request, Item, Reply>) => Omitted | undefined) | undefined;
}
