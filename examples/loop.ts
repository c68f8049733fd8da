// AutoCompactingLoop owns the history, and your `commit` stores each compaction before it is installed.
import { AutoCompactingLoop } from 'context-compactor';
import { openaiChat } from 'context-compactor/openai-chat';
import OpenAI from 'openai';
import { offlineOpenAi, readLogPage } from './support/offline.ts';

const client = new OpenAI({ apiKey: 'offline', fetch: offlineOpenAi });
const stored: string[] = [];

const request: OpenAI.ChatCompletionCreateParamsNonStreaming = {
  model: 'gpt-4.1-mini',
  messages: [{ role: 'user', content: 'Read all 12 pages of the log. Why did a request fail?' }],
  tools: [{ type: 'function', function: { name: 'read_log', parameters: { type: 'object' } } }],
};
const loop = new AutoCompactingLoop(request, {
  adapter: openaiChat(),
  contextWindow: 12_000,
  send: (params: OpenAI.ChatCompletionCreateParamsNonStreaming, { signal }) => client.chat.completions.create(params, { signal }),
  commit: async ({ compactionId, replacement }) => {
    stored.push(JSON.stringify({ compactionId, replacement })); // if this rejects, nothing has changed
  },
});

for (;;) {
  const { text, calls } = await loop.appendReply(await loop.send());
  if (calls.length === 0) {
    console.log(text);
    break;
  }
  for (const { id, input } of calls)
    loop.append([{ role: 'tool', tool_call_id: id, content: readLogPage((input as { page: number }).page) }]);
}
console.log(`${stored.length} compactions stored, ${loop.history.length} messages in the history`);
