/** What the user, or the application in the user's name, sent to the model. */
export type UserPart = { type: 'text'; text: string } | { type: 'image'; mediaType: ImageType; data: string };

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** What a tool returned. A reference makes a tool known that was listed by name only. */
export type ResultPart = { type: 'text'; text: string } | { type: 'toolReference'; name: string };

export interface RecordedCall {
  /** As recorded: it may repeat, and may hold characters that a provider refuses. */
  id: string;
  name: string;
  input: Record<string, unknown>;
  /** The arguments as the model wrote them, or as JSON of `input` where the recording holds an object. */
  json: string;
}

/** Thinking is here only with a signature of Anthropic. */
export type ReplyPart =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | ({ type: 'call' } & RecordedCall);

export interface RecordedResult {
  call: RecordedCall;
  content: string | ResultPart[];
  isError: boolean;
}

/** One request to the model: what was new in it, what the model replied, and what the tools answered to that. */
export interface RecordedTurn {
  input: UserPart[][];
  reply: ReplyPart[];
  results: RecordedResult[];
}

export interface Recording {
  system?: string;
  turns: RecordedTurn[];
  /** What the user sent after the last reply, unanswered. */
  rest: UserPart[][];
}

/** A real conversation, read from a transcript of the agent that led it. */
export interface Conversation extends Recording {
  /** The path inside the transcripts' folder. */
  name: string;
  source: string;
}

/** Reads one transcript: the text of the file. */
export type Loader = (text: string) => Recording;
