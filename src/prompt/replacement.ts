import type { Message, Part, TextPart } from '../message.ts';
import { freeSuffix } from './free-suffix.ts';

/** What a replacement message holds. `lastUserMessage` is undefined in a manual one. */
export interface Replacement {
  summary: string;
  lastUserMessage?: readonly Part[] | undefined;
}

// K21: fixed lead-ins. The summary is labelled a generated record, so that it is neither the user's nor the assistant's word.
const contextLead = 'A generated record of the conversation so far, which it replaces. It is background, not a request.';
const userLead = "The user's newest message, word for word. It is authoritative where the record differs.";

const openingPattern =
  /^<compacted_context(_\d+)?>\n([^\n]*)\n\n([\s\S]*)\n<\/compacted_context\1>(?:\n\n<last_user_message\1>\n([^\n]*)\n\n)?$/;

const closingPattern = /\n<\/last_user_message(_\d+)?>$/;

/**
 * One user message: the summary in its wrapper and, in an automatic compaction, the parts of the latest user message in their
 * order between an opening and a closing text. Deterministic: the same input gives the same text.
 */
export function buildReplacement({ summary, lastUserMessage }: Replacement): Message {
  const userTexts = (lastUserMessage ?? []).filter(isText).map((part) => part.text);
  // Joined, because a model reads parts as one text: half a tag in each is a tag.
  const suffix = freeSuffix([summary, userTexts.join('')], /(?:compacted_context|last_user_message)(_\d+)?/gi);
  const context = `<compacted_context${suffix}>\n${contextLead}\n\n${summary}\n</compacted_context${suffix}>`;
  if (!lastUserMessage) return { role: 'user', parts: [{ type: 'text', text: context }] };
  return {
    role: 'user',
    parts: [
      { type: 'text', text: `${context}\n\n<last_user_message${suffix}>\n${userLead}\n\n` },
      ...lastUserMessage,
      { type: 'text', text: `\n</last_user_message${suffix}>` },
    ],
  };
}

/**
 * What the message holds that took the place of a history: undefined for every message that the library would not build exactly so.
 * Text of a user that only looks like a wrapper is never taken for one.
 */
export function readReplacement(message: Message): Replacement | undefined {
  const [first, ...rest] = message.parts;
  if (message.role !== 'user' || first?.type !== 'text') return undefined;
  const match = openingPattern.exec(first.text);
  if (!match) return undefined;
  const summary = match[3] ?? '';
  const replacement: Replacement = match[4] === undefined ? { summary } : { summary, lastUserMessage: rest.slice(0, -1) };
  return sameText(buildReplacement(replacement), message) ? replacement : undefined;
}

/**
 * The same for a message that is known to be a replacement, in a shape that has one text where others have parts, and media beside it.
 */
export function readJoinedReplacement(message: Message): Replacement | undefined {
  const [part, ...media] = message.parts;
  const closing = part?.type === 'text' && closingPattern.exec(part.text.slice(-60));
  if (!closing) return undefined;
  const { text } = part;
  const opening = `\n<last_user_message${closing[1] ?? ''}>\n${userLead}\n\n`;
  const start = text.indexOf(opening) + opening.length;
  const end = text.length - closing[0].length;
  if (start < opening.length || start > end) return undefined;
  const said: Part[] = start < end ? [asText(text.slice(start, end))] : [];
  const parts = [asText(text.slice(0, start)), ...said, ...media, asText(closing[0])];
  return readReplacement({ ...message, parts });
}

function sameText(left: Message, right: Message): boolean {
  return (
    left.parts.length === right.parts.length &&
    left.parts.every((part, index) => {
      const other = right.parts[index];
      return part.type === 'text' ? other?.type === 'text' && other.text === part.text : other === part;
    })
  );
}

function asText(text: string): TextPart {
  return { type: 'text', text };
}

function isText(part: Part): part is TextPart {
  return part.type === 'text';
}
