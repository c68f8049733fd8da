// A Genkit agent: `ai.generate` runs its tools itself, in a loop that the middleware keeps inside the window.
// OPENAI_API_KEY in the environment makes it talk to OpenAI.
import { openAICompatible } from '@genkit-ai/compat-oai';
import { genkitMiddleware } from 'context-compactor/genkit';
import { genkit, z } from 'genkit';
import { readLogPage } from './support/offline.ts';
import { defineOfflineModel } from './support/offline-genkit.ts';
import { printCompaction } from './support/print-compaction.ts';

const apiKey = process.env.OPENAI_API_KEY;
const ai = genkit({ plugins: apiKey ? [openAICompatible({ name: 'openai', apiKey })] : [] });
const model = apiKey ? 'openai/gpt-4.1-mini' : defineOfflineModel(ai);

// Made once: it serves all calls, and all conversations.
const compacting = genkitMiddleware({
  contextWindow: 12_000, // your model's window; this one is small so that you see it work
  onEvent: printCompaction,
});

const readLog = ai.defineTool(
  { name: 'read_log', description: 'Reads a page.', inputSchema: z.object({ page: z.number() }), outputSchema: z.string() },
  async ({ page }) => readLogPage(page),
);

const { text, messages } = await ai.generate({
  model,
  system: 'You find the cause of failures.',
  prompt: 'Read all 12 pages of the log. Why did a request fail? Never restart the server.',
  config: { max_completion_tokens: 2000 }, // by this name the output cap reaches OpenAI, and that of a summary too
  tools: [readLog],
  maxTurns: 20,
  use: [compacting],
});
console.log(text);
console.log(`The conversation is yours, whole: ${messages.length} messages.`);
