/**
 * A part of a message, or of a reply. The fields are named so that a part can be written down in place; others are carried all the same.
 */
export interface AiSdkPart {
  readonly type: string;
  readonly providerOptions?: unknown;
  // text, reasoning
  readonly text?: unknown;
  // file
  readonly data?: unknown;
  readonly mediaType?: unknown;
  readonly filename?: unknown;
  // calls and their results
  readonly toolCallId?: unknown;
  readonly toolName?: unknown;
  readonly input?: unknown;
  readonly providerExecuted?: unknown;
  readonly output?: unknown;
  // approvals
  readonly approvalId?: unknown;
  readonly approved?: unknown;
}

/** One entry of `prompt`: the SDK's `LanguageModelV3Message` fits. */
export interface AiSdkMessage {
  readonly role: string;
  /** A text in system messages, parts in all others. */
  readonly content: string | readonly AiSdkPart[];
  readonly providerOptions?: object | undefined;
}

/** Which model answers: every model of the SDK fits. */
export interface AiSdkModelName {
  /** For instance `openai.responses` or `anthropic.messages`. */
  readonly provider: string;
  readonly modelId: string;
}

/** What the adapter needs of a request: the SDK's `LanguageModelV3CallOptions` fit. */
export interface AiSdkRequest {
  readonly prompt: readonly AiSdkMessage[];
  /**
   * The model that is asked, which the SDK's call options do not name: by it tokens are counted, and tools forbidden where that costs no
   * cache. `aiSdkMiddleware` sets it, and takes it out again before the model is called.
   */
  readonly model?: AiSdkModelName | undefined;
  readonly tools?: readonly object[] | undefined;
  readonly toolChoice?: { readonly type: string } | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly responseFormat?: { readonly type: string } | undefined;
  readonly providerOptions?: object | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

/** What `doGenerate` returns: the SDK's `LanguageModelV3GenerateResult` fits. */
export interface AiSdkGenerateReply {
  readonly content: readonly AiSdkPart[];
  readonly finishReason: { readonly unified: string; readonly raw?: string | undefined };
  readonly usage: object;
}

/** What `doStream` returns: the SDK's `LanguageModelV3StreamResult` fits. */
export interface AiSdkStreamReply {
  readonly stream: ReadableStream<AiSdkPart>;
}

export type AiSdkReply = AiSdkGenerateReply | AiSdkStreamReply;
