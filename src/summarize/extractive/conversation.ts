import { isOrphanRecord } from '../../history/orphan-record.ts';
import { type Message, textOf } from '../../message.ts';
import { readReplacement } from '../../prompt/replacement.ts';
import { addSections, type EarlierSummary, isSummaryText, noEarlierSummary } from './earlier-summary.ts';
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

/**
 * Sorts a conversation. Earlier summaries, in a replacement message or bare, become sections again, and the user's message inside
 * a replacement is a user's message again: nothing is wrapped twice. B092. Reasoning and system messages are passed over. Calls and
 * results are paired by occurrence, so that repeated call ids do no harm.
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
        use.output = part.content.map((piece) => (piece.type === 'text' ? piece.text : '')).join('\n');
        conversation.newLength += use.output.length;
      }
    }
    if (isOrphanRecord(message)) readRecord(message, at, conversation);
    else if (message.role === 'user') readUser(message, at, conversation);
    else if (message.role === 'assistant') addText(textOf(message), at, conversation.answers, conversation);
  });
  return conversation;
}

/** The output of a tool whose call is missing: the user did not say it. */
function readRecord(message: Message, at: number, conversation: Conversation): void {
  const use = readToolUse(at, 'tool', undefined);
  use.answeredAt = at;
  use.output = textOf(message);
  conversation.uses.push(use);
  conversation.newLength += use.output.length;
}

function readUser(message: Message, at: number, conversation: Conversation): void {
  let own: Message = message;
  for (let replacement = readReplacement(own); replacement; replacement = readReplacement(own)) {
    readSummary(replacement.summary, conversation);
    own = { role: 'user', parts: replacement.lastUserMessage ?? [] };
  }
  const text = textOf(own);
  if (isSummaryText(text)) readSummary(text, conversation);
  else addText(text, at, conversation.demands, conversation);
}

function readSummary(text: string, conversation: Conversation): void {
  let own = text;
  // A summarizer that echoes may have put a wrapper into the summary.
  for (let inner = unwrap(own); inner !== undefined; inner = unwrap(own)) own = inner;
  addSections(conversation.earlier, own);
}

function unwrap(text: string): string | undefined {
  return readReplacement({ role: 'user', parts: [{ type: 'text', text }] })?.summary;
}

function addText(text: string, at: number, said: Said[], conversation: Conversation): void {
  if (text.trim() === '') return;
  said.push({ at, text });
  conversation.newLength += text.length;
}
