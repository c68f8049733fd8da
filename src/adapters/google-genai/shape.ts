/** One part of a content: the SDK's `Part` fits. The adapter reads the fields that it knows and carries the others. */
export interface GeminiPart {
  readonly text?: string | undefined;
  readonly thought?: boolean | undefined;
  readonly thoughtSignature?: string | undefined;
  readonly functionCall?: object | undefined;
  readonly functionResponse?: object | undefined;
  readonly inlineData?: object | undefined;
  readonly fileData?: object | undefined;
}

/** One entry of `contents`: the SDK's `Content` fits. */
export interface GeminiContent {
  /** `user` or `model`; absent where it is the user's. */
  readonly role?: string | undefined;
  readonly parts?: readonly GeminiPart[] | undefined;
}

/** What the adapter needs of a request: the SDK's `GenerateContentParameters` fit, and so does the body of a REST call. */
export interface GeminiRequest {
  /** Contents, or what the user says alone: texts and parts. */
  readonly contents: string | GeminiPart | GeminiContent | readonly (string | GeminiPart | GeminiContent)[];
  readonly model?: string | undefined;
  /** Where the SDK has its parameters. */
  readonly config?: object | undefined;
  // Where a REST body has them.
  readonly systemInstruction?: object | undefined;
  readonly tools?: readonly object[] | undefined;
  readonly toolConfig?: object | undefined;
  readonly generationConfig?: object | undefined;
  readonly cachedContent?: string | undefined;
}

/** A reply object: the SDK's `GenerateContentResponse` fits. */
export interface GeminiReplyObject {
  readonly candidates?:
    | readonly {
        readonly content?: GeminiContent | undefined;
        readonly finishReason?: string | undefined;
        readonly index?: number | undefined;
      }[]
    | undefined;
  readonly promptFeedback?: { readonly blockReason?: string | undefined } | undefined;
  readonly usageMetadata?: object | undefined;
}

/** A reply object, or a stream of them. */
export type GeminiReply = GeminiReplyObject | AsyncIterable<object>;
