import { type Message, type Part, readReplacement } from 'context-compactor';
import { extractSummary } from 'context-compactor/extractive';
import { countTokens } from './count-tokens.ts';

/** The words by which a summary request is recognised, whoever sends it. */
const summaryMark = 'context compaction request';

/** What the summary may have where the request sets no cap. */
const defaultCap = 1024;

/**
 * True for a private summary request, recognised by its conversation alone: a newest text of the user opens with the mark. Further down
 * it may stand in any text, since the agent reads the very file that holds it.
 */
export function isSummaryRequest(messages: readonly Message[]): boolean {
  return messages.findLast(({ role }) => role === 'user')?.parts.some(isInstruction) === true;
}

/** Summarizes the conversation of a summary request, without a model and within the request's own output cap. */
export function summarize(messages: readonly Message[], outputCap: number): string {
  const conversation = messages.flatMap(withoutInstruction).map(splitReplacement);
  return extractSummary(conversation, { maxTokens: outputCap || defaultCap, countTokens });
}

/** The instruction may share its message with tool results; what follows it belongs to it. */
function withoutInstruction(message: Message): Message[] {
  const start = message.role === 'user' ? message.parts.findIndex(isInstruction) : -1;
  if (start === -1) return [message];
  return start === 0 ? [] : [{ ...message, parts: message.parts.slice(0, start) }];
}

const joinedReplacement = /^(<compacted_context(_\d+)?>.*<last_user_message\2>\n[^\n]*\n\n)(.*)(\n<\/last_user_message\2>)$/s;

/** A replacement is known by its parts. Some clients join all texts of a message on the way. */
function splitReplacement(message: Message): Message {
  const [part] = message.parts;
  const [, opening, , text, closing] = (part?.type === 'text' && joinedReplacement.exec(part.text)) || [];
  const parts = [opening, text, closing].map((piece = ''): Part => ({ type: 'text', text: piece }));
  return readReplacement({ ...message, parts }) ? { ...message, parts } : message;
}

function isInstruction(part: Part): boolean {
  return part.type === 'text' && part.text.slice(0, 200).includes(summaryMark);
}
