/** Plain text. */
export interface TextPart {
  type: 'text';
  text: string;
}

/** What a model thought before it answered. Never part of a summary, never shown to a user. */
export interface ReasoningPart {
  type: 'reasoning';
  text: string;
}

/** A tool call of the model. `input` is the parsed arguments, or the raw string where it is no JSON. */
export interface ToolCallPart {
  type: 'toolCall';
  id: string;
  name: string;
  input: unknown;
}

/** What a tool returned. `content` holds text and media only. */
export interface ToolResultPart {
  type: 'toolResult';
  callId: string;
  /** The tool's name, where it is known: some shapes demand it. */
  name?: string;
  content: readonly (TextPart | MediaPart | NativePart)[];
  isError?: boolean;
}

/** An image, a document or another attachment. Its bytes are never counted as text. */
export interface MediaPart {
  type: 'media';
  kind: 'image' | 'audio' | 'video' | 'document';
  /** Size in pixels, where the source tells it. */
  width?: number;
  height?: number;
  /** Size of the encoded attachment in bytes, where it is inline. */
  bytes?: number;
  /** The provider's `detail` level of an image, where it has one. */
  detail?: string;
  /** The native part, carried as it is. */
  value: unknown;
}

/** Anything the library does not know: carried as it is, never read, never edited. */
export interface NativePart {
  type: 'native';
  value: unknown;
}

export type Part = TextPart | ReasoningPart | ToolCallPart | ToolResultPart | MediaPart | NativePart;

export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** A message in the neutral form that every adapter reads to and writes from. */
export interface Message {
  role: Role;
  parts: readonly Part[];
}

/**
 * The text of a message: its text parts joined by line breaks, without reasoning, calls and results.
 *
 * @example
 * textOf({ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }); // 'Hello'
 */
export function textOf(message: Message): string {
  return message.parts
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n');
}
