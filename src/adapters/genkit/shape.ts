/** One entry of `messages`: Genkit's `MessageData` and its `Message` fit. Parts are read by their fields, and others carried. */
export interface GenkitMessage {
  readonly role: string;
  readonly content: readonly object[];
  readonly metadata?: object | undefined;
}

/** What the adapter needs of a request to a model: Genkit's `GenerateRequest` fits, as a `ModelMiddleware` sees it. */
export interface GenkitRequest {
  readonly messages: readonly GenkitMessage[];
  readonly tools?: readonly object[] | undefined;
  readonly toolChoice?: string | undefined;
  /** Whatever the model's plugin takes. */
  readonly config?: unknown;
  readonly output?: object | undefined;
  readonly docs?: readonly object[] | undefined;
}

/** A model's reply: Genkit's `GenerateResponseData` and its `GenerateResponse` fit. */
export interface GenkitReply {
  readonly message?: GenkitMessage | undefined;
  readonly finishReason?: string | undefined;
  readonly usage?: object | undefined;
  /** Older form: the first one counts. */
  readonly candidates?: readonly { readonly message: GenkitMessage; readonly finishReason: string }[] | undefined;
}

/** A message of our own making, while it is made. */
export interface WrittenMessage extends GenkitMessage {
  content: object[];
  metadata?: object | undefined;
}
