// The official OpenAI client, streaming: compaction happens below it. OPENAI_API_KEY in the environment makes it talk to OpenAI.
import { compactingFetch } from 'context-compactor/fetch';
import { openaiChat } from 'context-compactor/openai-chat';
import OpenAI from 'openai';
import { offlineOpenAi, readLogPage } from './support/offline.ts';
import { printCompaction } from './support/print-compaction.ts';

const online = process.env.OPENAI_API_KEY !== undefined;

const client = new OpenAI({
  ...(online ? {} : { apiKey: 'offline' }),
  fetch: compactingFetch({
    adapter: openaiChat(),
    contextWindow: 12_000, // your model's window; this one is small so that you see it work
    ...(online ? {} : { fetch: offlineOpenAi }),
    onEvent: printCompaction,
  }),
});

const tools: OpenAI.ChatCompletionTool[] = [
  { type: 'function', function: { name: 'read_log', parameters: { type: 'object', properties: { page: { type: 'number' } } } } },
];
const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: 'system', content: 'You find the cause of failures.' },
  { role: 'user', content: 'Read all 12 pages of the log. Why did a request fail? Never restart the server.' },
];

for (;;) {
  const stream = client.chat.completions.stream({ model: 'gpt-4.1-mini', messages, tools });
  stream.on('content', (text) => process.stdout.write(text));
  const message = await stream.finalMessage();
  messages.push(message);
  if (!message.tool_calls?.length) break;
  for (const call of message.tool_calls)
    if (call.type === 'function')
      messages.push({ role: 'tool', tool_call_id: call.id, content: readLogPage(JSON.parse(call.function.arguments).page) });
}
console.log();
