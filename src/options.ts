import * as z from 'zod/mini';
import type { ProviderAdapter, Usage } from './adapters/adapter.ts';
import { type BudgetOptions, contextBudget } from './budget/context-budget.ts';
import type { TokenCounter } from './budget/token-counter.ts';
import { CompactionError } from './errors.ts';
import type { CompactionObserver } from './events.ts';
import type { IsUserInput } from './history/turns.ts';
import type { Message } from './message.ts';
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

export interface SummaryOptions<Request, Reply> {
  /** Output cap in tokens. Default: a fifth of the input budget, at most 8,192; lowered where the window has less room. */
  maxTokens?: number | undefined;
  /** Extra attempts after a failure that may pass. Default 1: SDKs retry on their own. */
  retries?: number | undefined;
  /** Milliseconds for the whole summary, denials and retries included. Default 120,000. */
  timeout?: number | undefined;
  /** Writes the summary. Default `forkSummarizer()`: the parent's request plus one user message. */
  summarizer?: Summarizer | undefined;
  /** Sends summary requests instead of `send`. */
  send?: Send<Request, Reply> | undefined;
  /** Replaces the built-in instruction, automatic and manual. */
  replacePrompt?: string | undefined;
}

export interface RetainOptions {
  /** Which user-role messages are the user's input, as opposed to nudges and reminders of the host. Default: all with content. */
  isUserInput?: IsUserInput | undefined;
}

export interface CountingOptions extends BudgetOptions {
  /** Counts text. Default: o200k, loaded when needed and scaled for the provider; a third of the bytes where it cannot be loaded. */
  countTokens?: TokenCounter | undefined;
}

/** What a compaction is about to install. Everything in it is a copy. */
export interface CompactionCommit<Request> {
  compactionId: string;
  conversation?: string | undefined;
  trigger: 'automatic' | 'manual';
  /** How many items at the start of the caller's own conversation it stands for. */
  covered: number;
  /** What stands in their place, without system messages. */
  replacement: Message[];
  /** The rebuilt request. */
  request: Request;
  /** State to restore in another process: `createCompactor(…).restore(snapshot)`. */
  snapshot: ConversationSnapshot;
  usage?: Usage | undefined;
}

/** Stores a compaction. The point of no return: once it is fulfilled the replacement is installed, if it rejects nothing has changed. */
export type Commit<Request> = (commit: CompactionCommit<Request>) => PromiseLike<void> | void;

export interface SharedOptions<Shape, Item, ReplyShape, Request, Reply> {
  /** Translates the provider's shape, for instance `openaiChat()`. */
  adapter: ProviderAdapter<Shape, Item, ReplyShape>;
  /** The model's window in tokens. 0 or absent: 200,000. */
  contextWindow?: number | undefined;
  budget?: CountingOptions | undefined;
  /** Default `turn`. */
  when?: When | undefined;
  summary?: SummaryOptions<Request, Reply> | undefined;
  retain?: RetainOptions | undefined;
  commit?: Commit<Request> | undefined;
  /** Milliseconds to wait for `commit`. Default: without limit. */
  commitTimeout?: number | undefined;
  onEvent?: CompactionObserver | undefined;
}

export interface CompactorOptions<Shape, Item, ReplyShape, Request, Reply>
  extends SharedOptions<Shape, Item, ReplyShape, Request, Reply> {
  /** Sends a request. Needed unless `summary.send` or a summarizer that asks no model is given. */
  send?: Send<Request, Reply> | undefined;
}

/**
 * Checks options once, at the entrance.
 *
 * @throws CompactionError `invalid-options`, naming the option, its value and what was expected.
 */
export function validateOptions(options: unknown): void {
  schema ??= buildSchema();
  const result = z.safeParse(schema, options);
  const issue = result.error?.issues[0];
  if (issue) {
    const path = [...issue.path, ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])];
    const expected = issue.code === 'unrecognized_keys' ? 'absent: there is no such option' : issue.message;
    throw new CompactionError(
      'invalid-options',
      `Expected \`${path.join('.') || 'options'}\` to be ${expected}, got ${issue.code === 'unrecognized_keys' ? 'a value' : show(options, path)}.`,
    );
  }
  // The schema has just checked that these are what they are said to be.
  const { budget, contextWindow } = options as { budget?: CountingOptions; contextWindow?: number };
  contextBudget({ ...budget, contextWindow });
}

const adapterMethods = [
  'items',
  'withItems',
  'withSystem',
  'context',
  'readItem',
  'writeMessage',
  'repairItem',
  'forkForSummary',
  'readReply',
  'usage',
  'classifyError',
];

// Built on demand, so that importing the package builds nothing.
let schema: ReturnType<typeof buildSchema> | undefined;

function buildSchema() {
  const optional = (test: (value: unknown) => boolean, expectation: string) => z.optional(z.custom<unknown>(test, expectation));
  const fn = optional((value) => typeof value === 'function', 'a function');
  const tokens = optional((value) => typeof value === 'number', 'a number');
  const milliseconds = optional((value) => typeof value === 'number' && value > 0, 'a number of milliseconds over 0');
  const group = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => z.optional(z.strictObject(shape, groupError));
  return z.strictObject(
    {
      adapter: z.custom<unknown>(isAdapter, 'an adapter, for instance `openaiChat()`'),
      contextWindow: tokens,
      send: fn,
      budget: group({
        safetyMargin: tokens,
        thresholdRatio: tokens,
        threshold: tokens,
        ceiling: tokens,
        outputCap: tokens,
        countTokens: fn,
      }),
      when: z.optional(z.enum(['turn', 'tool-turn', 'every-request', 'never'], 'one of turn, tool-turn, every-request, never')),
      summary: group({
        maxTokens: optional((value) => Number.isInteger(value) && Number(value) > 0, 'a whole number of tokens over 0'),
        retries: optional((value) => Number.isInteger(value) && Number(value) >= 0, 'a whole number, 0 or more'),
        timeout: milliseconds,
        summarizer: fn,
        send: fn,
        replacePrompt: optional((value) => typeof value === 'string' && value.trim() !== '', 'a text that is not blank'),
      }),
      retain: group({ isUserInput: fn }),
      commit: fn,
      commitTimeout: milliseconds,
      onEvent: fn,
    },
    groupError,
  );
}

const groupError = {
  error: ({ code }: { code?: string | undefined }) => (code === 'invalid_type' ? 'an object of options' : undefined),
};

function isAdapter(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && adapterMethods.every((name) => typeof Reflect.get(value, name) === 'function')
  );
}

/** The value of a known option at a path, short. Values of unknown ones are never shown: they may be secrets. */
function show(options: unknown, path: readonly PropertyKey[]): string {
  let value = options;
  for (const key of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}
