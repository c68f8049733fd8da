/**
 * One entry of `input` or `output`: the SDK's `ResponseInputItem` and `ResponseOutputItem` fit. The fields are named so that an item
 * can be written down in place; others are carried all the same.
 */
export interface ResponsesItem {
  /** Absent or null in messages and references that leave it out. */
  readonly type?: string | null | undefined;
  readonly id?: unknown;
  readonly status?: unknown;
  // message
  readonly role?: string | undefined;
  readonly content?: unknown;
  readonly phase?: unknown;
  // calls and their results
  readonly call_id?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
  readonly input?: unknown;
  readonly output?: unknown;
  // reasoning, compaction
  readonly summary?: unknown;
  readonly encrypted_content?: unknown;
}

/** An item of our own making, while it is made. */
export interface WrittenItem {
  type: string;
  [field: string]: unknown;
}

/** What the adapter needs of a request: the SDK's `ResponseCreateParams` fit, streaming or not. */
export interface ResponsesRequest {
  readonly model?: string | undefined;
  readonly instructions?: string | null | undefined;
  /** A text is one message of the user. */
  readonly input?: string | readonly ResponsesItem[] | undefined;
  /** A list; the SDK's streaming helper takes a single one, too. */
  readonly tools?: object | null | undefined;
  readonly max_output_tokens?: number | null | undefined;
  readonly previous_response_id?: string | null | undefined;
  readonly conversation?: string | object | null | undefined;
}

/** A reply object: the SDK's `Response` and `ParsedResponse` fit. */
export interface ResponsesReplyObject {
  readonly id?: unknown;
  readonly output: readonly ResponsesItem[];
  readonly status?: string | undefined;
  readonly incomplete_details?: { readonly reason?: string | undefined } | null | undefined;
  readonly error?: object | null | undefined;
  readonly usage?: object | null | undefined;
}

/** A reply object, a raw stream of events, or the SDK's `ResponseStream`. */
export type ResponsesReply = ResponsesReplyObject | AsyncIterable<object>;
