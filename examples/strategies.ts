// Who writes the summary: a cheap model of another provider; else that of the conversation, piece by piece; else no model at all.
import Anthropic from '@anthropic-ai/sdk';
import { withAutoCompaction } from 'context-compactor';
import { anthropicMessages } from 'context-compactor/anthropic';
import { extractiveSummarizer } from 'context-compactor/extractive';
import { openaiChat } from 'context-compactor/openai-chat';
import { chunkedSummarizer, firstOf, isolatedSummarizer } from 'context-compactor/strategies';
import OpenAI from 'openai';
import { offlineOpenAi, readLogPage } from './support/offline.ts';
import { offlineSummarizer } from './support/offline-strategies.ts';
import { printCompaction } from './support/print-compaction.ts';

const online = process.env.OPENAI_API_KEY && process.env.ANTHROPIC_API_KEY;
const openai = online ? new OpenAI() : new OpenAI({ apiKey: 'offline', fetch: offlineOpenAi });
const anthropic = online ? new Anthropic() : new Anthropic({ apiKey: 'offline', fetch: offlineSummarizer });

const cheap = isolatedSummarizer({
  adapter: anthropicMessages(),
  request: { model: 'claude-haiku-4-5', max_tokens: 2000, messages: [] },
  send: (request: Anthropic.MessageCreateParamsNonStreaming, { signal }) => anthropic.messages.create(request, { signal }),
  contextWindow: 200_000,
});

const create = withAutoCompaction(
  (request: OpenAI.ChatCompletionCreateParamsNonStreaming, { signal }) => openai.chat.completions.create(request, { signal }),
  {
    adapter: openaiChat(),
    contextWindow: 12_000, // small, so that you see it work
    summary: { summarizer: firstOf(cheap, chunkedSummarizer(), extractiveSummarizer()) },
    onEvent: printCompaction,
  },
);

const messages: OpenAI.ChatCompletionMessageParam[] = [];
for (let page = 1; page <= 12; page++) {
  messages.push({ role: 'user', content: `What failed here? Never restart the server.\n${readLogPage(page)}` });
  const reply = await create({ model: 'gpt-4.1-mini', messages });
  messages.push({ role: 'assistant', content: reply.choices[0]?.message.content ?? '' });
}
console.log(messages.at(-1)?.content);
