/**
 * One entry of `messages`: a `BaseMessage` of any copy of `@langchain/core`, or a plain `{ role, content }`. The adapter reads the fields
 * that it knows and carries the others.
 */
export interface LangchainMessage {
  readonly content: unknown;
  /** What an instance is: `human`, `ai`, `system`, `tool`. */
  readonly type?: string | undefined;
  /** What a plain message is. */
  readonly role?: string | undefined;
}

/**
 * What the adapter needs of a request: the `ModelRequest` of an agent's `wrapModelCall`, or what a loop of one's own sends,
 * `{ messages }`.
 */
export interface LangchainRequest {
  readonly messages: readonly LangchainMessage[];
  readonly model?: unknown;
  /** Stands before the messages; where it is not there, `systemPrompt` does. */
  readonly systemMessage?: LangchainMessage | undefined;
  readonly systemPrompt?: string | undefined;
  readonly tools?: readonly unknown[] | undefined;
  readonly toolChoice?: unknown;
  readonly responseFormat?: unknown;
  /** Options that are bound to the model. */
  readonly modelSettings?: object | undefined;
}

/** A reply: LangChain's `AIMessage` and `AIMessageChunk` fit. */
export interface LangchainReplyMessage extends LangchainMessage {
  readonly additional_kwargs?: object | undefined;
  readonly response_metadata?: object | undefined;
  readonly usage_metadata?: object | undefined;
}

/** A reply, or a stream of its chunks, as `model.stream` gives it. */
export type LangchainReply = LangchainReplyMessage | AsyncIterable<LangchainReplyMessage>;

/** A content block of a message that is written. */
export interface LangchainBlock {
  readonly type: string;
  [field: string]: unknown;
}

/** A call of a message that is written. */
export interface LangchainToolCall {
  type: 'tool_call';
  id: string;
  name: string;
  args: Record<string, unknown>;
}

/** What a message says: a text, or blocks. */
export type LangchainContent = string | LangchainBlock[];

/**
 * The classes that new messages are made of: those of the application's own copy of LangChain, as `langchain` and
 * `@langchain/core/messages` export them.
 */
export interface LangchainMessageClasses {
  readonly HumanMessage: new (fields: { content: LangchainContent }) => LangchainMessage;
  readonly AIMessage: new (fields: { content: LangchainContent; tool_calls: LangchainToolCall[] }) => LangchainMessage;
  readonly ToolMessage: new (fields: {
    content: LangchainContent;
    tool_call_id: string;
    status?: 'success' | 'error';
  }) => LangchainMessage;
  readonly SystemMessage: new (fields: { content: LangchainContent }) => LangchainMessage;
}
