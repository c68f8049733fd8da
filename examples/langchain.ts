// A LangChain agent, with compaction as its middleware. OPENAI_API_KEY in the environment makes it talk to OpenAI.
import { ChatOpenAI } from '@langchain/openai';
import { langchainMiddleware } from 'context-compactor/langchain';
import { AIMessage, createAgent, HumanMessage, SystemMessage, ToolMessage, tool } from 'langchain';
import * as z from 'zod';
import { readLogPage } from './support/offline.ts';
import { offlineLangchain } from './support/offline-langchain.ts';
import { printCompaction } from './support/print-compaction.ts';

const offline = process.env.OPENAI_API_KEY ? {} : { apiKey: 'offline', configuration: { fetch: offlineLangchain } };

const readLog = tool(async ({ page }) => readLogPage(page), {
  name: 'read_log',
  description: 'Reads one page of the log.',
  schema: z.object({ page: z.number() }),
});

const compacting = langchainMiddleware({
  messageClasses: { HumanMessage, AIMessage, ToolMessage, SystemMessage }, // those of your own copy of LangChain
  contextWindow: 12_000, // your model's window; this one is small so that you see it work
  onEvent: printCompaction,
});

const agent = createAgent({
  model: new ChatOpenAI({ model: 'gpt-4.1-mini', ...offline }),
  tools: [readLog],
  systemPrompt: 'You find the cause of failures.',
  middleware: [compacting], // the last of the list: then it sees what the model gets
});

const question = 'Read all 12 pages of the log. Why did a request fail? Never restart the server.';
const { messages } = await agent.invoke({ messages: [new HumanMessage(question)] }, { recursionLimit: 100 });
console.log(messages.at(-1)?.text);
console.log(`The agent's own ${messages.length} messages are whole.`);
