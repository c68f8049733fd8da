import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { openAICompatible } from '@genkit-ai/compat-oai';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { genkit, z as genkitZ } from 'genkit';
import { createAgent } from 'langchain';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { anthropicMessages } from '../src/adapters/anthropic.ts';
import { openaiChat } from '../src/adapters/openai-chat.ts';
import { openaiResponses } from '../src/adapters/openai-responses.ts';
import { compactingFetch } from '../src/fetch.ts';
import { validateAnthropic } from '../src/testing/wire/anthropic.ts';
import { validateOpenAiChat } from '../src/testing/wire/openai-chat.ts';
import { validateOpenAiResponses } from '../src/testing/wire/openai-responses.ts';
import type { WireViolation } from '../src/testing/wire/violation.ts';
import { lifecycleOf } from './support/harness.ts';
import type { Body } from './support/provider-server.ts';
import { sendAnthropicReply, sendChatReply, sendResponsesReply } from './support/reply-formats.ts';
import { pageOf, pages, smallWindow, startWorkingModel, type WorkingModel } from './support/working-model.ts';

let model: WorkingModel;
afterEach(() => model.close());

const shared = () => ({ ...smallWindow, onEvent: model.onEvent });

/** The framework ran its tools, the library compacted below it, and the provider would have taken every request. */
function expectWork(validate: (body: Body) => WireViolation[]): void {
  const ends = lifecycleOf(model.events);
  expect(ends.length).toBeGreaterThanOrEqual(4);
  expect(ends).toEqual(ends.map((_, index) => (index % 2 === 0 ? 'started' : 'applied')));
  expect(model.turns()).toHaveLength(pages + 1);
  expect([...model.summaries(), ...model.turns()].flatMap(validate)).toEqual([]);
}

describe('the AI SDK', () => {
  const tools = {
    read: tool({
      description: 'Reads a page.',
      inputSchema: z.object({ page: z.number() }),
      execute: async (input) => pageOf(input),
    }),
  };
  const task = {
    system: 'Be exact.',
    prompt: 'Task alpha',
    tools,
    stopWhen: stepCountIs(20),
    maxOutputTokens: 1000,
    maxRetries: 0,
  };

  it('works with generateText over Chat Completions', async () => {
    model = await startWorkingModel(sendChatReply, (path) => path === '/chat/completions');
    const fetch = compactingFetch({ adapter: openaiChat(), ...shared() });
    const provider = createOpenAI({ apiKey: 'test', baseURL: model.url, fetch });
    expect((await generateText({ ...task, model: provider.chat('gpt-5') })).text).toBe('Task alpha is done.');
    expectWork(validateOpenAiChat);
  });

  it('works with streamText over Responses', async () => {
    model = await startWorkingModel(sendResponsesReply, (path) => path === '/responses');
    const fetch = compactingFetch({ adapter: openaiResponses(), ...shared() });
    const provider = createOpenAI({ apiKey: 'test', baseURL: model.url, fetch });
    const result = streamText({ ...task, model: provider.responses('gpt-5') });
    let text = '';
    for await (const piece of result.textStream) text += piece;
    expect(text).toBe('Task alpha is done.');
    expectWork(validateOpenAiResponses);
  });

  it('works with streamText over Anthropic', async () => {
    model = await startWorkingModel(sendAnthropicReply, (path) => path === '/messages');
    const fetch = compactingFetch({ adapter: anthropicMessages(), ...shared() });
    const provider = createAnthropic({ apiKey: 'test', baseURL: model.url, fetch });
    expect(await streamText({ ...task, model: provider('claude-test') }).text).toBe('Task alpha is done.');
    expectWork(validateAnthropic);
  });
});

describe('LangChain', () => {
  it('works with an agent over ChatOpenAI', async () => {
    model = await startWorkingModel(sendChatReply, (path) => path === '/chat/completions');
    const fetch = compactingFetch({ adapter: openaiChat(), ...shared() });
    const read = langchainTool(async (input) => pageOf(input), {
      name: 'read',
      description: 'Reads a page.',
      schema: z.object({ page: z.number() }),
    });
    const chat = new ChatOpenAI({
      model: 'gpt-4.1',
      apiKey: 'test',
      maxRetries: 0,
      configuration: { baseURL: model.url, fetch },
    });
    const agent = createAgent({ model: chat, tools: [read], systemPrompt: 'Be exact.' });
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Task alpha' }] }, { recursionLimit: 50 });
    expect(messages.at(-1)?.text).toBe('Task alpha is done.');
    expectWork(validateOpenAiChat);
  });
});

describe('Genkit', () => {
  it('works with generate over an OpenAI-compatible plugin', async () => {
    model = await startWorkingModel(sendChatReply, (path) => path === '/chat/completions');
    const fetch = compactingFetch({ adapter: openaiChat(), ...shared() });
    // The plugin's own types are those of an older client, which take no `fetch` of the web.
    const ai = genkit({
      plugins: [openAICompatible({ name: 'mine', apiKey: 'test', baseURL: model.url, fetch: fetch as never })],
    });
    const read = ai.defineTool(
      { name: 'read', description: 'Reads a page.', inputSchema: genkitZ.object({ page: genkitZ.number() }) },
      async (input) => pageOf(input),
    );
    const { text } = await ai.generate({
      model: 'mine/gpt-5',
      system: 'Be exact.',
      prompt: 'Task alpha',
      tools: [read],
      maxTurns: 20,
    });
    expect(text).toBe('Task alpha is done.');
    expectWork(validateOpenAiChat);
  });
});
