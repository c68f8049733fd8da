/**
 * One entry of `messages`: the SDK's `ChatCompletionMessageParam` and `ChatCompletionMessage` fit. The fields are named so that a
 * message can be written down in place; others are carried all the same.
 */
export interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly name?: unknown;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: unknown;
  readonly function_call?: unknown;
  readonly refusal?: unknown;
  readonly audio?: unknown;
}

/** A message of our own making, while it is made. */
export interface WrittenMessage {
  role: string;
  [field: string]: unknown;
}

/** What the adapter needs of a request: the SDK's `ChatCompletionCreateParams` fit, streaming or not. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly object[] | null | undefined;
  /** Deprecated form of `tools`. */
  readonly functions?: readonly object[] | null | undefined;
  readonly max_completion_tokens?: number | null | undefined;
  readonly max_tokens?: number | null | undefined;
}

/** A reply object: the SDK's `ChatCompletion` and `ParsedChatCompletion` fit. */
export interface ChatCompletionReply {
  readonly choices: readonly { readonly message: { readonly content?: unknown }; readonly finish_reason?: string | null }[];
  readonly usage?: object | null | undefined;
}

/** A reply object, or a raw stream of chunks. */
export type ChatReply = ChatCompletionReply | AsyncIterable<object>;
