// Compiled, never run: a model of its own for summaries fits the SDKs' own types without a cast.
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { expectTypeOf } from 'vitest';
import { anthropicMessages } from '../../src/adapters/anthropic.ts';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import { createCompactor } from '../../src/compactor.ts';
import { chunkedSummarizer, firstOf, hierarchicalSummarizer, isolatedSummarizer, keepLast } from '../../src/strategies.ts';
import { forkSummarizer } from '../../src/summarize/fork.ts';
import type { Summarizer } from '../../src/summarize/summarizer.ts';

export function summarizers(openai: OpenAI, anthropic: Anthropic): Summarizer[] {
  const cheap = isolatedSummarizer({
    adapter: openaiChat(),
    request: { model: 'gpt-4.1-mini', messages: [] },
    send: (request, { signal }) => openai.chat.completions.create(request, { signal }),
    contextWindow: 1_000_000,
  });
  const layered = hierarchicalSummarizer({
    abstractTokens: 300,
    model: {
      adapter: anthropicMessages(),
      request: { model: 'claude-haiku-4-5', max_tokens: 1000, messages: [] },
      send: (request: Anthropic.MessageCreateParamsNonStreaming, { signal }) => anthropic.messages.create(request, { signal }),
      contextWindow: 200_000,
    },
  });
  const streamed = isolatedSummarizer({
    adapter: anthropicMessages(),
    request: { model: 'claude-haiku-4-5', max_tokens: 1000, messages: [], stream: true },
    send: (request, { signal, purpose }) => {
      expectTypeOf(purpose).toEqualTypeOf<'turn' | 'summary'>();
      return anthropic.messages.create(request, { signal });
    },
    contextWindow: 200_000,
  });
  // @ts-expect-error The reply is none of this provider's.
  isolatedSummarizer({ adapter: openaiChat(), request: { model: 'x', messages: [] }, send: async () => 7, contextWindow: 1 });
  // @ts-expect-error A model is given whole or not at all.
  isolatedSummarizer({ adapter: openaiChat() });
  // @ts-expect-error There is no first one.
  firstOf();
  return [cheap, layered, streamed, isolatedSummarizer(), hierarchicalSummarizer(), firstOf(cheap, chunkedSummarizer())];
}

createCompactor({
  adapter: openaiChat(),
  contextWindow: 100_000,
  summary: { summarizer: keepLast(4, forkSummarizer(), { always: true }) },
});
