import { openaiChat } from '../../../src/adapters/openai-chat.ts';
import type { Message, Part } from '../../../src/message.ts';
import { openaiSteps } from './openai-steps.ts';
import type { Conversation } from './recording.ts';

/** A recorded conversation: what comes before each reply, and the reply, in neutral form. */
export interface NeutralStep {
  before: readonly Message[];
  reply: readonly Message[];
}

export interface NeutralSteps {
  system: string;
  steps: NeutralStep[];
}

// Images are in the recordings' own form: what they show does not matter here.
const withoutMedia = (message: Message): Message => ({
  ...message,
  parts: message.parts.map((part): Part => (part.type === 'media' ? { type: 'text', text: 'An image.' } : part)),
});

export function readSteps(conversation: Conversation): NeutralSteps {
  const { readItem } = openaiChat();
  const names = new Map<string, string>();
  const nameResults = (message: Message): Message => {
    for (const part of message.parts) if (part.type === 'toolCall') names.set(part.id, part.name);
    const named = (part: Part): Part => (part.type === 'toolResult' ? { ...part, name: names.get(part.callId) ?? 'tool' } : part);
    return { ...message, parts: message.parts.map(named) };
  };
  const read = (message: object) =>
    readItem(message as { role: string })
      .map(withoutMedia)
      .map(nameResults);
  const steps = openaiSteps(conversation).turns.map(({ messages, reply }) => ({
    before: joinResults(messages.flatMap(read).filter(({ role }) => role !== 'system')),
    reply: read(reply),
  }));
  return { system: conversation.system ?? '', steps };
}

/** The results of one step are one message, as some shapes demand. */
function joinResults(messages: readonly Message[]): Message[] {
  const results = messages.filter(({ role }) => role === 'tool').flatMap(({ parts }) => parts);
  const others = messages.filter(({ role }) => role !== 'tool');
  return results.length > 0 ? [{ role: 'tool', parts: results }, ...others] : others;
}
