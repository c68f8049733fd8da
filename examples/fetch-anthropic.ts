// The official Anthropic client with its own tool runner. ANTHROPIC_API_KEY in the environment makes it talk to Anthropic.
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { anthropicMessages } from 'context-compactor/anthropic';
import { compactingFetch } from 'context-compactor/fetch';
import { offlineAnthropic, readLogPage } from './support/offline.ts';
import { printCompaction } from './support/print-compaction.ts';

const online = process.env.ANTHROPIC_API_KEY !== undefined;

const client = new Anthropic({
  ...(online ? {} : { apiKey: 'offline' }),
  fetch: compactingFetch({
    adapter: anthropicMessages(),
    contextWindow: 12_000, // your model's window; this one is small so that you see it work
    ...(online ? {} : { fetch: offlineAnthropic }),
    onEvent: printCompaction,
  }),
});

const readLog = betaTool({
  name: 'read_log',
  description: 'Reads a page of the log.',
  inputSchema: { type: 'object', properties: { page: { type: 'number' } }, required: ['page'] },
  run: ({ page }) => readLogPage(page),
});

const message = await client.beta.messages.toolRunner({
  model: 'claude-haiku-4-5',
  max_tokens: 1000,
  system: 'You find the cause of failures.',
  messages: [{ role: 'user', content: 'Read all 12 pages of the log. Why did a request fail? Never restart the server.' }],
  tools: [readLog],
  thread: false, // the history in each request: one that the server holds cannot be compacted here
});
for (const block of message.content) if (block.type === 'text') console.log(block.text);
