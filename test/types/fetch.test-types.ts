// Compiled, never run: a compacting fetch is what the clients take, without a cast.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { ChatOpenAI } from '@langchain/openai';
import OpenAI, { AzureOpenAI } from 'openai';
import { expectTypeOf } from 'vitest';
import { type AnthropicRequest, anthropicMessages } from '../../src/adapters/anthropic.ts';
import { type ChatMessage, type ChatReply, type ChatRequest, openaiChat } from '../../src/adapters/openai-chat.ts';
import { openaiResponses } from '../../src/adapters/openai-responses.ts';
import type { Compactor } from '../../src/compactor.ts';
import { type CompactingFetch, compactingFetch } from '../../src/fetch.ts';

const chat = compactingFetch({ adapter: openaiChat(), contextWindow: 128_000 });
const responses = compactingFetch({ adapter: openaiResponses(), contextWindow: 128_000 });
const anthropic = compactingFetch({ adapter: anthropicMessages(), contextWindow: 200_000 });

new OpenAI({ fetch: chat });
new OpenAI({ fetch: responses });
new AzureOpenAI({ fetch: chat });
new Anthropic({ fetch: anthropic });
new GoogleGenAI({ httpOptions: { fetch: chat } });
createOpenAI({ fetch: responses });
createAnthropic({ fetch: anthropic });
new ChatOpenAI({ configuration: { fetch: chat } });

expectTypeOf(chat).toEqualTypeOf<CompactingFetch<ChatRequest, ChatMessage, ChatReply>>();
expectTypeOf(chat).toExtend<typeof globalThis.fetch>();
expectTypeOf(chat.compactor).toEqualTypeOf<Compactor<ChatRequest, ChatMessage, ChatRequest, ChatReply>>();

// What comes in as a fetch may go in as one.
compactingFetch({ adapter: openaiChat(), fetch: globalThis.fetch });
compactingFetch({ adapter: openaiChat(), fetch: async () => new Response() });

compactingFetch({
  adapter: anthropicMessages(),
  conversation: (request, { headers }) => {
    expectTypeOf(request).toEqualTypeOf<AnthropicRequest>();
    return new Headers(headers).get('x-chat') ?? undefined;
  },
  commit: ({ request }) => {
    expectTypeOf(request).toEqualTypeOf<AnthropicRequest>();
  },
  // A cheaper model writes the summaries.
  summary: {
    send: (request, { signal }) =>
      new Anthropic().messages.create(
        {
          ...request,
          model: 'claude-haiku-4-5',
          max_tokens: 4000,
          messages: [{ role: 'user', content: 'Summarize.' }],
          stream: false,
        } as never,
        { signal },
      ),
  },
});
// @ts-expect-error there is no `send`: each summary request goes where its call goes
compactingFetch({ adapter: openaiChat(), send: async () => ({}) });
