import { isOrphanRecord } from '../../history/orphan-record.ts';
import { type Message, textOf } from '../../message.ts';
import { readReplacement } from '../../prompt/replacement.ts';
import { addSections, type EarlierSummary, isSummaryText, noEarlierSummary } from './earlier-summary.ts';
import { endsOf } from './line-text.ts';
import { readToolUse, type ToolUse } from './tool-use.ts';

/** A text, and the position of its message. What was carried over from an earlier summary has the position -1. */
export interface Said {
  at: number;
  text: string;
}

/** A conversation, sorted by who said what. */
export interface Conversation {
  earlier: EarlierSummary;
  /** What the user wrote. Nothing that a tool returned is ever among it. */
  demands: Said[];
  answers: Said[];
  uses: ToolUse[];
  messageCount: number;
  /** Code units of the earlier summaries, and of all the rest. */
  earlierLength: number;
  newLength: number;
}

/** Each level costs another look at the whole text. */
const deepestWrapper = 8;

/**
 * Sorts a conversation. Earlier summaries, in a replacement message or bare, become sections again, and the user's message inside
 * a replacement is a user's message again: nothing is wrapped twice. B092. Reasoning and system messages are passed over. Calls and
 * results are paired by occurrence, so that repeated call ids do no harm.
 *
 * What the user wrote, calls and earlier summaries are read whole. Of an answer or an output of more than 200,000 code units only the
 * beginning and the end are.
 */
export function readConversation(messages: readonly Message[]): Conversation {
  const conversation: Conversation = {
    earlier: noEarlierSummary(),
    demands: [],
    answers: [],
    uses: [],
    messageCount: messages.length,
    earlierLength: 0,
    newLength: 0,
  };
  // Calls that wait for a result, by id, and how many of them have got theirs.
  const calls = new Map<string, { uses: ToolUse[]; answered: number }>();
  messages.forEach((message, at) => {
    for (const part of message.parts) {
      if (part.type === 'toolCall') {
        const use = readToolUse(at, part.name, part.input);
        conversation.uses.push(use);
        conversation.newLength += use.length;
        const sameId = calls.get(part.id);
        if (sameId) sameId.uses.push(use);
        else calls.set(part.id, { uses: [use], answered: 0 });
      } else if (part.type === 'toolResult') {
        const sameId = calls.get(part.callId);
        const called = sameId?.uses[sameId.answered++];
        const use = called ?? readToolUse(at, 'tool', undefined);
        if (!called) conversation.uses.push(use);
        use.answeredAt = at;
        use.isError = part.isError;
        const output = part.content.map((piece) => (piece.type === 'text' ? piece.text : '')).join('\n');
        use.output = endsOf(output);
        conversation.newLength += output.length;
      }
    }
    if (isOrphanRecord(message)) readRecord(message, at, conversation);
    else if (message.role === 'user') readUser(message, at, conversation);
    else if (message.role === 'assistant') readAnswer(textOf(message), at, conversation);
  });
  return conversation;
}

/** The output of a tool whose call is missing: the user did not say it. */
function readRecord(message: Message, at: number, conversation: Conversation): void {
  const use = readToolUse(at, 'tool', undefined);
  use.answeredAt = at;
  const output = textOf(message);
  use.output = endsOf(output);
  conversation.uses.push(use);
  conversation.newLength += output.length;
}

function readUser(message: Message, at: number, conversation: Conversation): void {
  let own: Message = message;
  for (let depth = 0; depth < deepestWrapper; depth++) {
    const replacement = readReplacement(own);
    if (!replacement) break;
    readSummary(replacement.summary, conversation);
    own = { role: 'user', parts: replacement.lastUserMessage ?? [] };
  }
  const text = textOf(own);
  if (isSummaryText(text)) readSummary(text, conversation);
  else if (text.trim() !== '') {
    conversation.demands.push({ at, text });
    conversation.newLength += text.length;
  }
}

function readAnswer(text: string, at: number, conversation: Conversation): void {
  if (text.trim() === '') return;
  conversation.answers.push({ at, text: endsOf(text) });
  conversation.newLength += text.length;
}

function readSummary(text: string, conversation: Conversation): void {
  let own = text;
  // A summarizer that echoes may have put a wrapper into the summary.
  for (let depth = 0; depth < deepestWrapper; depth++) own = unwrap(own) ?? own;
  addSections(conversation.earlier, own);
}

function unwrap(text: string): string | undefined {
  return readReplacement({ role: 'user', parts: [{ type: 'text', text }] })?.summary;
}
