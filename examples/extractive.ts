// Summaries without a model: deterministic, free, offline. Useful in tests, and where a model must not see the history again.
import { createCompactor } from 'context-compactor';
import { extractiveSummarizer } from 'context-compactor/extractive';
import { openaiChat } from 'context-compactor/openai-chat';
import type OpenAI from 'openai';
import { readLogPage } from './support/offline.ts';

const compactor = createCompactor({
  adapter: openaiChat(),
  contextWindow: 8192,
  summary: { summarizer: extractiveSummarizer(), maxTokens: 500 },
});

const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: 'user', content: 'Why did a request fail? Never restart the server.' },
];
for (let page = 1; page <= 4; page++)
  messages.push(
    {
      role: 'assistant',
      content: `Reading page ${page} of server.log.`,
      tool_calls: [{ id: `call_${page}`, type: 'function', function: { name: 'read_log', arguments: JSON.stringify({ page }) } }],
    },
    { role: 'tool', tool_call_id: `call_${page}`, content: readLogPage(page) },
  );

const request: OpenAI.ChatCompletionCreateParamsNonStreaming = { model: 'gpt-4.1-mini', messages };
const prepared = await compactor.prepare(request);
console.log(`${messages.length} messages became ${prepared.messages.length}:\n`);
for (const { content } of prepared.messages)
  console.log(Array.isArray(content) ? content.map((part) => ('text' in part ? part.text : '')).join('') : content);
