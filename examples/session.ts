// A session on disk: a worker stops in the middle of a turn, and another one goes on with the compacted conversation.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { AutoCompactingLoop, type Message } from 'context-compactor';
import { openaiChat } from 'context-compactor/openai-chat';
import { createSession, jsonlStore, readTurn } from 'context-compactor/session';
import OpenAI from 'openai';
import { offlineOpenAi, readLogPage } from './support/offline.ts';

const client = new OpenAI({ apiKey: 'offline', fetch: offlineOpenAi });
const adapter = openaiChat();
const store = jsonlStore({ directory: mkdtempSync(`${tmpdir()}/sessions-`) });
const tools = [{ type: 'function' as const, function: { name: 'read_log', parameters: { type: 'object' } } }];
const empty: OpenAI.ChatCompletionCreateParamsNonStreaming = { model: 'gpt-4.1-mini', messages: [], tools };
const send = (request: typeof empty) => client.chat.completions.create(request);

async function work(mostSteps: number, input?: Message): Promise<void> {
  const session = await createSession({ store, id: 'log' });
  const { request, snapshot } = session.restore(adapter, empty);
  const loop = new AutoCompactingLoop(request, { adapter, contextWindow: 12_000, send, commit: session.commit }, { snapshot });
  if (input) {
    await session.appendUser(input);
    loop.append(adapter.writeMessage(input));
  }
  for (let step = 0, open = true; open && step < mostSteps; step++) {
    const { text, calls, items } = await loop.appendReply(await loop.send());
    const results = calls.map(({ id, input }) => {
      const content = readLogPage((input as { page: number }).page);
      return { role: 'tool' as const, tool_call_id: id, content };
    });
    loop.append(results);
    await session.appendTurn({ ...readTurn(adapter, [...items, ...results]), snapshot: loop.snapshot() });
    open = calls.length > 0;
    if (!open) console.log(text);
  }
  console.log(`${session.messages.length} messages for the model, ${session.transcript.length} entries to show`);
}
await work(8, { role: 'user', parts: [{ type: 'text', text: 'Read all 12 pages of the log. Why did a request fail?' }] });
await work(10); // knows nothing but the folder
await store.close();
