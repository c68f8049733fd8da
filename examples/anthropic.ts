// The same agent over the official Anthropic client. ANTHROPIC_API_KEY in the environment makes it talk to Anthropic.
import Anthropic from '@anthropic-ai/sdk';
import { withAutoCompaction } from 'context-compactor';
import { anthropicMessages } from 'context-compactor/anthropic';
import { offlineAnthropic, readLogPage } from './support/offline.ts';
import { printCompaction } from './support/print-compaction.ts';

const client = process.env.ANTHROPIC_API_KEY ? new Anthropic() : new Anthropic({ apiKey: 'offline', fetch: offlineAnthropic });

const create = withAutoCompaction(
  (request: Anthropic.MessageCreateParamsNonStreaming, { signal }) => client.messages.create(request, { signal }),
  {
    adapter: anthropicMessages(),
    contextWindow: 12_000, // your model's window; this one is small so that you see it work
    onEvent: printCompaction,
  },
);

const tools: Anthropic.Tool[] = [
  { name: 'read_log', input_schema: { type: 'object', properties: { page: { type: 'number' } } } },
];
const system = 'You find the cause of failures.';
const messages: Anthropic.MessageParam[] = [
  { role: 'user', content: 'Read all 12 pages of the log. Why did a request fail? Never restart the server.' },
];

for (;;) {
  const reply = await create({ model: 'claude-haiku-4-5', max_tokens: 1000, system, messages, tools });
  messages.push({ role: 'assistant', content: reply.content });
  const calls = reply.content.filter((block) => block.type === 'tool_use');
  for (const block of reply.content) if (block.type === 'text') console.log(block.text);
  if (calls.length === 0) break;
  // The tool's schema says what the input is.
  const run = (input: unknown) => readLogPage((input as { page: number }).page);
  const content = calls.map(({ id, input }) => ({ type: 'tool_result' as const, tool_use_id: id, content: run(input) }));
  messages.push({ role: 'user', content });
}
