import type { Message } from 'context-compactor';

export type JsonObject = Record<string, unknown>;

/** What the recording proxy must know of a provider. Bodies come in as parsed from the wire. */
export interface WireFormat {
  readonly provider: 'openai-chat' | 'anthropic';
  /** How the path of its requests ends. */
  readonly path: string;
  /** What the provider would refuse; empty for a valid body. */
  findProblems(body: JsonObject): readonly string[];
  /** The tools, the system text and the content of all messages as serialized blocks, in the order of the prompt, without cache markers. */
  blocksOf(body: JsonObject): string[];
  /** The text blocks of each user message, in order. */
  userTexts(body: JsonObject): string[][];
  /** The conversation in neutral form. */
  messagesOf(body: JsonObject): Message[];
  /** Tokens that the reply may have; 0 where the body does not say. */
  outputCap(body: JsonObject): number;
  /** The provider's error for a body of so many tokens; undefined where it fits. */
  overflow(body: JsonObject, tokens: number, contextWindow: number): JsonObject | undefined;
  /** The provider's error for a body that is not valid. */
  refusal(message: string): JsonObject;
  /** A request that makes the model server answer with this very text, in the form that the body asks for. */
  echoRequest(body: JsonObject, text: string): JsonObject;
  /** What the model wrote in a reply, or in one event of it. */
  outputOf(reply: JsonObject): string;
  /** Writes usage where the reply, or the event, has it. */
  setUsage(reply: JsonObject, inputTokens: number, countOutput: () => number): void;
}

/** The words by which a summary request is recognised, whoever sends it. */
const summaryMark = 'context compaction request';

/** The system text that tells the model server to repeat what it is sent. */
export const echoMark = 'Repeat the message of the user word for word.';

/**
 * True for a private summary request, recognised by its body alone: the newest text of the user opens with the mark. Further down it
 * may stand in any text, since the agent reads the very file that holds it.
 */
export function isSummaryRequest(format: WireFormat, body: JsonObject): boolean {
  return isInstruction(format.userTexts(body).at(-1)?.at(-1) ?? '');
}

/** What is to be summarized: the conversation without the instruction, which may share its message with tool results. */
export function messagesToSummarize(format: WireFormat, body: JsonObject): Message[] {
  return format.messagesOf(body).flatMap((message) => {
    const parts = message.parts.filter((part) => !(message.role === 'user' && part.type === 'text' && isInstruction(part.text)));
    return parts.length > 0 ? [{ ...message, parts }] : [];
  });
}

function isInstruction(text: string): boolean {
  return text.slice(0, 200).includes(summaryMark);
}

/** Cache markers say what to cache, not what the model sees. */
export function serialize(value: unknown): string {
  return JSON.stringify(value, (key, inner) =>
    key === 'cache_control' || key === 'prompt_cache_breakpoint' ? undefined : inner,
  );
}
