/** A content block. The adapter reads the fields of the types that it knows and carries the others. */
export interface AnthropicBlock {
  readonly type: string;
}

/** One entry of `messages`: the SDK's `MessageParam` and `BetaMessageParam` fit. */
export interface AnthropicMessage {
  readonly role: string;
  readonly content?: string | readonly AnthropicBlock[] | undefined;
}

/** What the adapter needs of a request: the SDK's `MessageCreateParams` fit, streaming or not, beta or not. */
export interface AnthropicRequest {
  readonly messages: readonly AnthropicMessage[];
  readonly model?: string | undefined;
  readonly max_tokens?: number | undefined;
  readonly system?: string | readonly AnthropicBlock[] | undefined;
  readonly tools?: readonly object[] | undefined;
  readonly tool_choice?: { readonly type: string } | undefined;
  readonly thinking?: { readonly type: string; readonly budget_tokens?: number } | undefined;
  readonly stream?: boolean | undefined;
  readonly output_config?: object | null | undefined;
  readonly output_format?: object | null | undefined;
  readonly mcp_servers?: readonly object[] | undefined;
  readonly thread?: object | null | undefined;
  readonly compaction?: object | null | undefined;
  readonly betas?: readonly string[] | undefined;
}

/** A reply object: the SDK's `Message` and `BetaMessage` fit. */
export interface AnthropicReplyMessage {
  readonly content: readonly AnthropicBlock[];
  readonly stop_reason: string | null;
  readonly usage?: unknown;
}

/** A reply object, a raw stream of events, or the SDK's `MessageStream`. */
export type AnthropicReply = AnthropicReplyMessage | AsyncIterable<unknown>;
