// The tool loop of the AI SDK's generateText, wrapped at the model. OPENAI_API_KEY in the environment makes it talk to OpenAI.
import { createOpenAI, openai } from '@ai-sdk/openai';
import { generateText, stepCountIs, tool, wrapLanguageModel } from 'ai';
import { aiSdkMiddleware } from 'context-compactor/ai-sdk';
import * as z from 'zod';
import { readLogPage } from './support/offline.ts';
import { offlineAiSdk } from './support/offline-ai-sdk.ts';
import { printCompaction } from './support/print-compaction.ts';

const provider = process.env.OPENAI_API_KEY ? openai : createOpenAI({ apiKey: 'offline', fetch: offlineAiSdk });

const model = wrapLanguageModel({
  model: provider.chat('gpt-4.1-mini'),
  middleware: aiSdkMiddleware({
    contextWindow: 12_000, // your model's window; this one is small so that you see it work
    onEvent: printCompaction,
  }),
});

const { text, steps } = await generateText({
  model,
  tools: {
    read_log: tool({
      description: 'Reads one page of the log.',
      inputSchema: z.object({ page: z.number() }),
      execute: ({ page }) => readLogPage(page),
    }),
  },
  stopWhen: stepCountIs(20),
  system: 'You find the cause of failures.',
  prompt: 'Read all 12 pages of the log. Why did a request fail? Never restart the server.',
});
console.log(`${steps.length} steps: ${text}`); // the steps, and the messages in them, are whole
