import type { ChatMessage, ChatReply, ChatRequest } from '../../src/adapters/openai-chat.ts';
import { textOf } from '../../src/message.ts';
import { memoryStore, type Session, type SessionEvent, type SessionStore, type StoredEvent } from '../../src/session.ts';
import { openaiChatKit } from '../../src/testing/kits/openai-chat.ts';
import { openRun, type RunOptions, type SessionRun } from './session-run.ts';

type ChatRun = SessionRun<ChatRequest, ChatMessage, ChatReply>;

/** So long that a conversation with it in it is due for compaction. */
export const long: string = 'line of a log, '.repeat(200);

/** One call of a tool. */
export function calls(id: string): { id: string; name: string; input: { path: string } }[] {
  return [{ id, name: 'read', input: { path: 'a.ts' } }];
}

/** A run that is compacted with its next request. */
export async function dueRun(options: Partial<RunOptions> = {}): Promise<{ run: ChatRun; store: SessionStore }> {
  const store = options.store ?? memoryStore();
  const run = await openRun(openaiChatKit, { store, ...options });
  await run.say('What does the log say?');
  await run.step({ reply: { calls: calls('call_1') }, results: [long] });
  return { run, store };
}

export function kindsOf(events: readonly StoredEvent[]): string[] {
  return events.map(({ seq, kind }) => `${seq} ${kind}`);
}

/** What the model goes on from, a line a message. */
export function textsOf({ session }: { session: Session }): string[] {
  return session.messages.map((message) => `${message.role}: ${textOf(message)}`);
}

/** The newest compaction that is stored. */
export async function storedCompaction(store: SessionStore): Promise<Extract<SessionEvent, { kind: 'compaction_applied' }>> {
  const { events } = await store.load('run');
  // The session has just written them.
  const found = (events as SessionEvent[]).findLast(({ kind }) => kind === 'compaction_applied');
  if (found?.kind !== 'compaction_applied') throw new Error('Expected a compaction.');
  return found;
}
