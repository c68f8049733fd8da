// An agent's own tool loop over the official OpenAI client, wrapped. OPENAI_API_KEY in the environment makes it talk to OpenAI.
import { withAutoCompaction } from 'context-compactor';
import { openaiChat } from 'context-compactor/openai-chat';
import OpenAI from 'openai';
import { offlineOpenAi, readLogPage } from './support/offline.ts';
import { printCompaction } from './support/print-compaction.ts';

const client = process.env.OPENAI_API_KEY ? new OpenAI() : new OpenAI({ apiKey: 'offline', fetch: offlineOpenAi });

const create = withAutoCompaction(
  (request: OpenAI.ChatCompletionCreateParamsNonStreaming, { signal }) => client.chat.completions.create(request, { signal }),
  {
    adapter: openaiChat(),
    contextWindow: 12_000, // your model's window; this one is small so that you see it work
    onEvent: printCompaction,
  },
);

const tools: OpenAI.ChatCompletionTool[] = [
  { type: 'function', function: { name: 'read_log', parameters: { type: 'object', properties: { page: { type: 'number' } } } } },
];
const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: 'system', content: 'You find the cause of failures.' },
  { role: 'user', content: 'Read all 12 pages of the log. Why did a request fail? Never restart the server.' },
];

for (;;) {
  const reply = await create({ model: 'gpt-4.1-mini', messages, tools }); // your messages array stays yours, whole
  const message = reply.choices[0]?.message;
  if (!message) break;
  messages.push(message);
  if (!message.tool_calls) {
    console.log(message.content);
    break;
  }
  for (const call of message.tool_calls)
    if (call.type === 'function')
      messages.push({ role: 'tool', tool_call_id: call.id, content: readLogPage(JSON.parse(call.function.arguments).page) });
}
