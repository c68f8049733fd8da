import type { Chat } from './chat.ts';
import type { ChatView } from './view.ts';

/** A chat whose input is lines from a pipe, a file or a script: each one is answered before the next one is read. */
export async function runPipedChat(chat: Chat, view: ChatView, lines: Iterable<string> | AsyncIterable<string>): Promise<number> {
  for await (const line of lines) {
    view.line(`> ${line}`);
    await chat.submit(line);
    if (chat.isOver) break;
  }
  chat.end();
  return chat.ended;
}
