import { stringifyForCounting } from '../budget/breakdown.ts';
import { type TokenCounter, utf8Length } from '../budget/token-counter.ts';
import type { Message, Part, TextPart, ToolResultPart } from '../message.ts';
import { cutBefore } from './well-formed.ts';

/** Tokens of a message that are not its text. V25 */
const overhead = 4;
const bytesPerToken = 4;
const ending = '\n[The rest was left out.]';
const mostCharactersPerToken = 8;
/** Text is not equally dense everywhere: less is kept than the average allows. */
const caution = 0.95;
/** Below this the ending would be most of what is left. */
const shortestWithEnding = 64;

export interface PreviewOptions {
  /** Size of a whole message, as the meter counts it. */
  measure: (message: Message) => number;
  count: TokenCounter;
}

/**
 * The message cut to about so many tokens: the beginning of its texts, without media, reasoning and opaque parts. Ids and names survive, so
 * that calls and results still belong together. The very same message where it fits. V25
 */
export function previewMessage(message: Message, budget: number, { measure, count }: PreviewOptions): Message {
  if (measure(message) <= budget) return message;
  let left = Math.max(0, budget - overhead);
  const most = left;
  const cut = (text: string): string => {
    const kept = cutText(text, left, count);
    left -= Math.min(left, count(kept));
    return kept;
  };
  const parts = message.parts.flatMap((part): Part[] => {
    if (part.type === 'text') return textPart(cut(part.text));
    if (part.type === 'toolResult') return [previewResult(part, cut)];
    if (part.type !== 'toolCall') return [];
    return [isLong(part.input, most) ? { ...part, input: {} } : part];
  });
  return { role: message.role, parts };
}

function previewResult(result: ToolResultPart, cut: (text: string) => string): ToolResultPart {
  const content = result.content.flatMap((part) => (part.type === 'text' ? textPart(cut(part.text)) : []));
  return { ...result, content };
}

function textPart(text: string): TextPart[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function isLong(input: unknown, tokens: number): boolean {
  return utf8Length(stringifyForCounting(input)) > tokens * bytesPerToken;
}

/** The beginning of a text, at most so many tokens. */
export function cutText(text: string, tokens: number, count: TokenCounter): string {
  // Few tokens have more than eight characters: what is longer need not be counted whole.
  let kept = text.slice(0, tokens * mostCharactersPerToken);
  let size = count(kept);
  if (kept.length === text.length && size <= tokens) return text;
  const marked = tokens >= shortestWithEnding;
  const room = marked ? tokens - count(ending) : tokens;
  while (size > room) {
    kept = kept.slice(0, cutBefore(kept, Math.floor((kept.length * room * caution) / size)));
    size = count(kept);
  }
  return kept !== '' && marked ? kept + ending : kept;
}
