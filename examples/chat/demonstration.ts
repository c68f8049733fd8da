import { memoryStore } from 'context-compactor/session';
import { openOfflineModel } from './model.ts';
import { runPipedChat } from './piped-chat.ts';
import { startChat } from './start-chat.ts';
import type { ChatView } from './view.ts';

const script: readonly string[] = [
  'Hello. What matters most to me is why request 150 failed.',
  'Read 4 pages of the log.',
  'Now read 4 pages more.',
  'Read the next 4 pages.',
  'Read 4 pages, the last ones.',
  '/compact why request 150 failed',
  'What did I say before?',
];

/** A chat in which nobody types: the scripted model, a session in memory, and a few lines that fill the window. */
export async function runDemonstration(view: ChatView): Promise<number> {
  const parts = { model: openOfflineModel(undefined, 0), store: memoryStore(), id: 'demonstration' };
  const chat = await startChat({ ...parts, view, listSessions: async () => [parts.id] });
  return runPipedChat(chat, view, script);
}
