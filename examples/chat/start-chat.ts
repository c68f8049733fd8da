import type { SessionStore } from 'context-compactor/session';
import { type Chat, createChat } from './chat.ts';
import { openConversation } from './conversation.ts';
import type { ChatModel } from './model.ts';
import { showTranscript } from './show-transcript.ts';
import type { ChatView } from './view.ts';

export interface ChatParts {
  model: ChatModel;
  store: SessionStore;
  /** Name of the session. */
  id: string;
  view: ChatView;
  listSessions: () => Promise<string[]>;
}

/**
 * Opens the session, shows where it stands, and gives back the chat that goes on with it.
 *
 * @throws as `createSession` does.
 */
export async function startChat({ model, store, id, view, listSessions }: ChatParts): Promise<Chat> {
  const conversation = await openConversation({ model, store, id, onEvent: (event) => chat.onEvent(event) });
  const chat = createChat(conversation, view, listSessions);
  const { transcript, damage } = conversation.session;
  view.line(model.description, 'quiet');
  view.line(`${transcript.length > 0 ? 'Resumed session' : 'Session'} ${id}. /help lists the commands.`, 'quiet');
  if (damage.length > 0) view.line(`${damage.length} damaged places in the stored session were passed over.`, 'warning');
  showTranscript(view, transcript);
  chat.refresh();
  return chat;
}
