// Compiled, never run: the clients of the SDKs fit without a cast.
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { expectTypeOf } from 'vitest';
import { anthropicMessages } from '../../src/adapters/anthropic.ts';
import { openaiResponses } from '../../src/adapters/openai-responses.ts';
import { createCompactor } from '../../src/compactor.ts';
import {
  type MessagesCompactor,
  nativeSummarizer,
  type ResponsesCompactBody,
  type ResponsesCompactReply,
} from '../../src/summarize/native.ts';
import type { Summarizer } from '../../src/summarize/summarizer.ts';

expectTypeOf(nativeSummarizer).returns.toEqualTypeOf<Summarizer>();
expectTypeOf<OpenAI.Responses.ResponseCompactParams>().toExtend<ResponsesCompactBody>();
expectTypeOf<OpenAI.Responses.CompactedResponse>().toExtend<ResponsesCompactReply>();
expectTypeOf<Anthropic['beta']['messages']>().toExtend<MessagesCompactor>();

export function compactByOpenAi(client: OpenAI): void {
  createCompactor({ adapter: openaiResponses(), summary: { summarizer: nativeSummarizer({ openai: client.responses }) } });
  // A function of the host's own, for a request that it wants to change.
  nativeSummarizer({
    openai: {
      compact: (body: OpenAI.Responses.ResponseCompactParams, options) =>
        client.responses.compact({ ...body, service_tier: 'flex' }, options),
    },
  });
}

export function compactByAnthropic(client: Anthropic): void {
  createCompactor({
    adapter: anthropicMessages(),
    summary: { summarizer: nativeSummarizer({ anthropic: client.beta.messages, anthropicInline: 'compact' }) },
  });
}
