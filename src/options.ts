import type { ProviderAdapter, Usage } from './adapters/adapter.ts';
import type { BudgetOptions, ContextWindow } from './budget/context-budget.ts';
import type { RoutePolicy } from './budget/route-policy.ts';
import type { TokenCounter } from './budget/token-counter.ts';
import type { CompactionObserver } from './events.ts';
import type { IsUserInput } from './history/turns.ts';
import type { Message } from './message.ts';
import type { Redact } from './redact.ts';
import type { ConversationSnapshot } from './snapshot.ts';
import type { Summarizer } from './summarize/summarizer.ts';

/** What a `send` is told about a request. */
export interface SendContext {
  signal: AbortSignal;
  /** `summary` marks the library's private request: what comes back must not be shown to the user. */
  purpose: 'turn' | 'summary';
  conversation?: string | undefined;
  compactionId?: string | undefined;
  /** 1 for the first request of its purpose, counting up over denial rounds and retries. */
  attempt: number;
}

/** Sends one request and returns the provider's reply, an object or a stream. */
export type Send<Request, Reply> = (request: Request, context: SendContext) => PromiseLike<Reply>;

/**
 * When automatic compaction may happen.
 * - `turn`: after a completed tool turn or an answered message.
 * - `tool-turn`: only after a tool turn of the current input.
 * - `every-request`: as `turn`, and also for a fresh request that is over its budget.
 * - `never`: never, on no path. Compacting by hand still works, and what was compacted or restored stays so.
 */
export type When = 'turn' | 'tool-turn' | 'every-request' | 'never';

/** How the summary is asked for. */
export interface SummaryOptions<Request, Reply> {
  /** Output cap in tokens. Default: a fifth of the input budget, at most 8,192; lowered where the window has less room. */
  maxTokens?: number | undefined;
  /** Extra attempts after a failure that may pass. Default 1: SDKs retry on their own. */
  retries?: number | undefined;
  /** Extra attempts with a shorter request, after the provider found one too long. Default 1. */
  overflowRetries?: number | undefined;
  /** Milliseconds for the whole summary, denials and retries included. Default 120,000. */
  timeout?: number | undefined;
  /** Writes the summary. Default `forkSummarizer()`: the parent's request plus one user message. */
  summarizer?: Summarizer | undefined;
  /** Sends summary requests instead of `send`. */
  send?: Send<Request, Reply> | undefined;
  /** Replaces the built-in instruction, automatic and manual. */
  replacePrompt?: string | undefined;
  /**
   * Takes secrets out of what a summary is made of and of the summary itself, whatever stands around them: called with each text of the
   * conversation, of an earlier summary, of the user's instructions and of the model's summary. What is kept word for word is not its
   * business. The cache of the parent's prompt is used up to the first text that it changes; `onText` gets the summary at its end.
   */
  redact?: Redact | undefined;
  /** Headings that a summary must have. Where some are missing it is asked for once more, then refused. Default: none. */
  headings?: readonly string[] | undefined;
  /** Part of what is replaced that an automatic compaction must save, from 0 to below 1. Default 0.1. */
  minimumSaving?: number | undefined;
  /**
   * What the compacted request may have at most, as a part of the input budget: over 0, at most 1. What is over it is refused. Default:
   * whatever is smaller than before.
   */
  target?: number | undefined;
}

/** What is kept word for word. All of it makes way where it would bring the request back to its threshold. */
export interface RetainOptions {
  /** The newest input of the user, in an automatic compaction. Default true. */
  latestUserMessage?: boolean | undefined;
  /**
   * The newest whole turns, the very same items. `{}`: a sixth of the window (`ratio` 0.16), from 1,024 (`min`) to 20,000 tokens (`max`);
   * where not even the newest turn fits, the beginnings of its messages. Default: none.
   */
  tail?: { ratio?: number | undefined; min?: number | undefined; max?: number | undefined } | undefined;
  /**
   * Messages from before the tail: the user's first, those about errors and corrections before others, then results of tools. `{}`: up to
   * 20,000 tokens and 6 messages. Default: none.
   */
  messages?: { tokens?: number | undefined; count?: number | undefined } | undefined;
  /**
   * Reasoning in what is kept: it is bound to the beginning that a summary replaces, and some providers refuse it behind another. `strip`
   * leaves it out, `keep` leaves it in, `drop-block` lets the provider drop what no longer fits (Anthropic; needs its beta header). Default
   * `strip`.
   */
  reasoning?: 'strip' | 'keep' | 'drop-block' | undefined;
  /** Which user-role messages are the user's input, as opposed to nudges and reminders of the host. Default: all with content. */
  isUserInput?: IsUserInput | undefined;
}

/** How large a request may be, and how its size is found. */
export interface CountingOptions extends BudgetOptions {
  /**
   * Counts text. Default: o200k, loaded when needed and scaled for the provider; a third of the bytes where it cannot be loaded.
   * Usage of the provider corrects it.
   */
  countTokens?: TokenCounter | undefined;
  /**
   * What happens from a tenth below the threshold on. `report`: a `notice`, once for each time the size comes over it. `act`: history is
   * compacted when the user says something new, so that the threshold is seldom reached in the middle of a task (not with `when:
   * 'tool-turn'`, which waits for the middle of one). Default: nothing.
   */
  soft?: 'report' | 'act' | undefined;
  /** What holds for requests of some providers and models alone; the first that fits. Default: none. */
  routes?: readonly RoutePolicy[] | undefined;
}

/** What a compaction is about to install. Everything in it is a copy. */
export interface CompactionCommit<Request> {
  compactionId: string;
  conversation?: string | undefined;
  trigger: 'automatic' | 'manual';
  /** How many items at the start of the caller's own conversation it stands for. */
  covered: number;
  /**
   * How many items that conversation had when it was looked at. What comes after them is in neither `replacement` nor `kept`: it follows
   * both. Absent where the server holds the conversation's beginning: there a count says nothing.
   */
  seen?: number | undefined;
  /** What stands in place of the covered items: no system messages, but checkpoints of the provider that still stand. */
  replacement: Message[];
  /** What stays behind it of what was looked at, without system messages and reminders. */
  kept: Message[];
  /** `replacement`, then `kept`, as native items. */
  items: unknown[];
  /** The rebuilt request. */
  request: Request;
  /** State to restore in another process: `createCompactor(…).restore(snapshot)`. */
  snapshot: ConversationSnapshot;
  usage?: Usage | undefined;
}

/** Stores a compaction. The point of no return: once it is fulfilled the replacement is installed, if it rejects nothing has changed. */
export type Commit<Request> = (commit: CompactionCommit<Request>) => PromiseLike<void> | void;

/** Options of everything that compacts. */
export interface SharedOptions<Shape, Item, ReplyShape, Request, Reply> {
  /** Translates the provider's shape, for instance `openaiChat()`. */
  adapter: ProviderAdapter<Shape, Item, ReplyShape>;
  /** The model's window in tokens, or what tells it by the model that a request names. 0 or absent: 200,000. */
  contextWindow?: ContextWindow | undefined;
  /** The budget and its threshold; by default the window less a margin, and nine tenths of that. */
  budget?: CountingOptions | undefined;
  /** When automatic compaction may happen. Default `turn`. */
  when?: When | undefined;
  /**
   * Where the provider refuses a request as too long: compact once and send the smaller request once. Its error is the caller's where
   * nothing was gained, and where it comes in the middle of a stream. Default false.
   */
  recoverOverflow?: boolean | undefined;
  /** Cap, retries, deadline, prompt and author of the summary. */
  summary?: SummaryOptions<Request, Reply> | undefined;
  /** What is kept word for word; by default the newest message of the user. */
  retain?: RetainOptions | undefined;
  /** Stores a compaction before it is installed: nothing has changed until it is fulfilled. */
  commit?: Commit<Request> | undefined;
  /** Milliseconds to wait for `commit`. Default: without limit. */
  commitTimeout?: number | undefined;
  /** Hears of each compaction and of what is worth knowing. A compaction that fails never fails the turn and is told here alone. */
  onEvent?: CompactionObserver | undefined;
}

/** Options of a compactor that sends by itself. */
export interface CompactorOptions<Shape, Item, ReplyShape, Request, Reply>
  extends SharedOptions<Shape, Item, ReplyShape, Request, Reply> {
  /** Sends a request. Needed unless `summary.send` or a summarizer that asks no model is given. */
  send?: Send<Request, Reply> | undefined;
}
