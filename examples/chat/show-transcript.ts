import { type Message, textOf } from 'context-compactor';
import type { TranscriptEntry } from 'context-compactor/session';
import type { ChatView } from './view.ts';

const mostEntries = 8;

/** The end of what was said before, so that the user knows where they were. */
export function showTranscript(view: ChatView, entries: readonly TranscriptEntry[]): void {
  const left = entries.length - mostEntries;
  if (left > 0) view.line(`(${left} earlier entries)`, 'quiet');
  for (const entry of entries.slice(-mostEntries)) showEntry(view, entry);
}

function showEntry(view: ChatView, entry: TranscriptEntry): void {
  if (entry.kind === 'user') view.line(`> ${textOf(entry.message)}`, 'quiet');
  else {
    showMessages(view, entry.messages);
    if (entry.kind === 'compaction') view.line(entry.status || 'Context compacted automatically.', 'quiet');
    else if (entry.interrupted) view.line('Stopped.', 'quiet');
    else if (entry.error !== undefined) view.line(`The turn failed: ${entry.error}`, 'quiet');
  }
}

function showMessages(view: ChatView, messages: readonly Message[]): void {
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    const text = textOf(message).trim();
    if (text !== '') view.line(text);
    for (const part of message.parts) if (part.type === 'toolCall') view.line(describeCall(part), 'quiet');
  }
}

/** A tool call in one line. */
export function describeCall({ name, input }: { name: string; input: unknown }): string {
  const told = JSON.stringify(input) ?? '';
  return `· ${name} ${told.length > 80 ? `${told.slice(0, 80)}…` : told}`;
}
