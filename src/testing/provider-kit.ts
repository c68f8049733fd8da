import type { ProviderAdapter } from '../adapters/adapter.ts';
import type { Choose } from './choose.ts';
import type { WireViolation } from './wire/violation.ts';

/** How a reply ends. `cut`: without saying how, as when the connection breaks. */
export type Ending = 'stop' | 'length' | 'tool-calls' | 'refusal' | 'content-filter' | 'cut';

export interface ScriptedCall {
  id: string;
  name: string;
  /** The arguments, as an object. */
  input: object;
}

/** What a reply of the model says, in neutral words. */
export interface ReplyScript {
  /** Default: no text. */
  text?: string | undefined;
  /** What it thinks before; left out where the shape has no place for it. */
  reasoning?: string | undefined;
  calls?: readonly ScriptedCall[] | undefined;
  /** Default: `tool-calls` where there are calls, else `stop`. */
  ending?: Ending | undefined;
  /** Default: no usage at all. */
  usage?: ScriptedUsage | undefined;
}

/** What a reply says that it took, in tokens. */
export interface ScriptedUsage {
  /** The whole input. */
  inputTokens: number;
  outputTokens: number;
  /** The part of the input that was read from the cache. */
  cachedInputTokens?: number | undefined;
  /** The part of the input that was written to the cache, where the shape tells it. */
  cacheWriteTokens?: number | undefined;
}

/** Where a stream breaks off. */
export interface StreamBreak {
  /** How many pieces come before; 0 for none. */
  after: number;
  /** What its reader is thrown then. Default: nothing, the stream simply ends. */
  error?: unknown;
}

/**
 * Errors as the provider's SDK throws them.
 * - `overflow`: the request is larger than the window
 * - `rate-limit`: too many requests or tokens in a minute, with wording as near to an overflow as the provider's is
 * - `overloaded`: the provider is busy
 * - `connection`: the network failed
 * - `invalid`: the request is wrong in a way that no retry mends
 * - `unauthorized`: the key is wrong
 */
export type ErrorScript = 'overflow' | 'rate-limit' | 'overloaded' | 'connection' | 'invalid' | 'unauthorized';

/** A setting of a request that a private summary request must not have. */
export interface ForkSetting<Request> {
  /** For messages, for instance `response_format`. */
  name: string;
  /** The request with the setting. */
  set(request: Request): Request;
  /** True where a request still has it. */
  isSet(request: Request): boolean;
}

export interface RequestScript {
  /** Default `Be exact.`; empty for none. */
  system?: string | undefined;
  /** Default true: two tools, `read` and `write`, that take `{ path: string }`. */
  tools?: boolean | undefined;
  /** Output cap in tokens, where the shape has one; default 1,000. */
  outputCap?: number | undefined;
  model?: string | undefined;
}

/**
 * One provider's shape, for tests: how its requests, replies and errors are made, and what it refuses. `Request` is what is sent: for SDKs
 * that take command objects, their input.
 */
export interface ProviderKit<Request, Item, Reply> {
  readonly name: string;
  readonly adapter: ProviderAdapter<Request, Item, Reply>;
  /** A request whose conversation is these items, the very same objects. System text that is a message in this shape stands before them. */
  request(items: readonly Item[], script?: RequestScript): Request;
  /** What the provider would refuse in a request; empty where it would take it. */
  validate(request: Request): WireViolation[];
  /** A whole reply. */
  reply(script: ReplyScript): Reply;
  /**
   * The same reply in pieces, its text in at least two; all of them, or up to where it breaks off. Absent where the shape has no streams.
   */
  stream?(script: ReplyScript, breaks?: StreamBreak): Reply;
  /** Settings that a summary request goes without, and the prompt cache does not see: to stop early, to answer twice, to be stored. */
  readonly neutralized?: readonly ForkSetting<Request>[] | undefined;
  /** Settings that a summary request goes without, and that says so: forced formats of the output, forced tools. */
  readonly relaxed?: readonly ForkSetting<Request>[] | undefined;
  /** How this provider's replies may end; default: in all ways. */
  readonly endings?: readonly Ending[] | undefined;
  /** Undefined for an error that this provider does not have. */
  error(script: ErrorScript): unknown;
  /** How long the error `rate-limit` says to wait, in milliseconds; absent where it does not say. */
  readonly retryAfter?: number | undefined;
  /**
   * Turns of a random valid conversation with what only this shape has: reasoning, media, opaque blocks, parallel calls, cache markers,
   * extra keys. Starts with a message of the user; every call is answered; ends with the answer of the assistant where `open` is false,
   * with the results of tools where it is true. Absent: conversations are made of neutral messages that the adapter writes.
   */
  conversation?(choose: Choose, open: boolean): Item[];
}
