/** A content block: an object with one key that says what it is (`text`, `toolUse`, `image`, …). Unknown ones are carried. */
export type BedrockBlock = object;

/** One entry of `messages`: the SDK's `Message` fits. */
export interface BedrockMessage {
  readonly role: string | undefined;
  readonly content?: readonly BedrockBlock[] | undefined;
}

/** What the adapter needs of a request: the SDK's `ConverseCommandInput` and `ConverseStreamCommandInput` fit. */
export interface BedrockInput {
  readonly modelId: string | undefined;
  readonly messages?: readonly BedrockMessage[] | undefined;
  readonly system?: readonly BedrockBlock[] | undefined;
  readonly inferenceConfig?: { readonly maxTokens?: number | undefined } | undefined;
  readonly toolConfig?: { readonly tools: readonly object[] | undefined; readonly toolChoice?: object | undefined } | undefined;
  readonly additionalModelRequestFields?: unknown;
  readonly outputConfig?: object | undefined;
}

/** A command of the SDK, `ConverseCommand` or `ConverseStreamCommand`, that holds the request. */
export interface BedrockCommand {
  readonly input: BedrockInput;
}

/** What is sent: the input of a command, or the command itself. */
export type BedrockRequest = BedrockInput | BedrockCommand;

/** A reply object: the SDK's `ConverseCommandOutput` fits. */
export interface BedrockReplyObject {
  readonly output: { readonly message?: BedrockMessage | undefined } | undefined;
  readonly stopReason: string | undefined;
  readonly usage?: object | undefined;
}

/** A streamed reply: the SDK's `ConverseStreamCommandOutput` fits. */
export interface BedrockReplyStream {
  readonly stream?: AsyncIterable<unknown> | undefined;
}

/** A reply object, a streamed reply, or the stream inside it. */
export type BedrockReply = BedrockReplyObject | BedrockReplyStream | AsyncIterable<unknown>;
