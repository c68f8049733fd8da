import type { ProviderAdapter, Usage } from '../adapters/adapter.ts';
import type { TokenCounter } from '../budget/token-counter.ts';
import type { Message } from '../message.ts';

/** What a summarizer is given: the request as it would have been sent, and the means to ask for a summary of it. */
export interface SummaryTask<Request, Item, Reply> {
  readonly trigger: 'automatic' | 'manual';
  readonly request: Request;
  /** The conversation of the request in neutral form. An earlier replacement is in it as the message that it is. */
  readonly messages: readonly Message[];
  /** What the model is asked: the built prompt. */
  readonly instruction: string;
  /** Wanted size of the summary in tokens, at most. */
  readonly maxTokens: number;
  /** Tokens that the window has left beside the request and the instruction. Below 0 where these alone are too long. */
  readonly roomForOutput: number;
  /** Extra attempts after a failure that may pass. */
  readonly retries: number;
  readonly countTokens: TokenCounter;
  readonly adapter: ProviderAdapter<Request, Item, Reply>;
  /** Sends one private request. Rejects promptly on abort, also where the host's `send` ignores its signal. */
  readonly send: (request: Request) => Promise<Reply>;
  readonly signal: AbortSignal;
  /** Text of the summary as it comes. */
  readonly onText?: ((text: string) => void) | undefined;
  /** What came through `onText` so far is void: another attempt begins. */
  readonly onRestart?: (() => void) | undefined;
  /** Called with the usage of each private reply, in failure too. */
  readonly onUsage: (usage: Usage) => void;
}

export interface Summary {
  text: string;
  /** Why the prompt cache could not be used in full; empty or absent where the summary request repeated the parent's prefix, or none was sent. */
  changed?: readonly string[];
}

/**
 * Writes the summary of a conversation. Throws a `CompactionError` where no acceptable summary comes.
 *
 * @example
 * const shortest: Summarizer = async ({ messages }) => ({ text: `${messages.length} messages, not summarized.` });
 */
export type Summarizer = <Request, Item, Reply>(task: SummaryTask<Request, Item, Reply>) => Promise<Summary>;
