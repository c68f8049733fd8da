// Compiled, never run: the SDK's own types fit the adapter's bounds without a cast.
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3GenerateResult,
  LanguageModelV3Message,
  LanguageModelV3Middleware,
  LanguageModelV3StreamResult,
} from '@ai-sdk/provider';
import { generateText, type LanguageModelMiddleware, ToolLoopAgent, wrapLanguageModel } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { expectTypeOf } from 'vitest';
import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import { createCompactor } from '../../src/compactor.ts';
import {
  type AiSdkGenerateReply,
  type AiSdkMessage,
  type AiSdkModelName,
  type AiSdkReply,
  type AiSdkRequest,
  type AiSdkStreamReply,
  aiSdkMiddleware,
  aiSdkModel,
} from '../../src/frameworks/ai-sdk.ts';
import { withAutoCompaction } from '../../src/wrap.ts';

expectTypeOf(aiSdkModel).returns.toEqualTypeOf<ProviderAdapter<AiSdkRequest, AiSdkMessage, AiSdkReply>>();

expectTypeOf<LanguageModelV3CallOptions>().toExtend<AiSdkRequest>();
expectTypeOf<LanguageModelV3CallOptions & { model: LanguageModelV3 }>().toExtend<AiSdkRequest>();
expectTypeOf<LanguageModelV3>().toExtend<AiSdkModelName>();
expectTypeOf<LanguageModelV3Message>().toExtend<AiSdkMessage>();
expectTypeOf<LanguageModelV3GenerateResult>().toExtend<AiSdkGenerateReply>();
expectTypeOf<LanguageModelV3StreamResult>().toExtend<AiSdkStreamReply>();

/** The middleware is one of the SDK's. */
export async function wrap(inner: LanguageModelV3): Promise<void> {
  const middleware: LanguageModelMiddleware = aiSdkMiddleware({ contextWindow: 400_000 });
  const provided: LanguageModelV3Middleware = aiSdkMiddleware();
  const model = wrapLanguageModel({ model: inner, middleware: [middleware, provided] });
  await generateText({ model, prompt: 'Hello' });
  await new ToolLoopAgent({ model }).generate({ prompt: 'Hello' });
  wrapLanguageModel({ model: new MockLanguageModelV3(), middleware: aiSdkMiddleware({ when: 'tool-turn' }) });
}

/** Where an option names the SDK's call options, they are what it gets. */
export function summarizeElsewhere(inner: LanguageModelV3, cheap: LanguageModelV3): LanguageModelV3 {
  const middleware = aiSdkMiddleware({
    contextWindow: 400_000,
    summary: {
      send: (request: LanguageModelV3CallOptions, { signal }) => cheap.doGenerate({ ...request, abortSignal: signal }),
    },
  });
  return wrapLanguageModel({ model: inner, middleware });
}

/** Requests keep their own type on the way through the adapter. */
export async function callByHand(model: LanguageModelV3, request: LanguageModelV3CallOptions): Promise<void> {
  const call = withAutoCompaction(
    (options: LanguageModelV3CallOptions, { signal }) => model.doGenerate({ ...options, abortSignal: signal }),
    { adapter: aiSdkModel(), contextWindow: 400_000 },
  );
  expectTypeOf(await call(request)).toExtend<LanguageModelV3GenerateResult>();
  const stream = withAutoCompaction(
    (options: LanguageModelV3CallOptions, { signal }) => model.doStream({ ...options, abortSignal: signal }),
    { adapter: aiSdkModel(), contextWindow: 400_000 },
  );
  expectTypeOf(await stream(request)).toExtend<LanguageModelV3StreamResult>();
  const compactor = createCompactor({
    adapter: aiSdkModel(),
    send: (options: LanguageModelV3CallOptions, { signal }) => model.doGenerate({ ...options, abortSignal: signal }),
  });
  expectTypeOf(await compactor.prepare(request)).toExtend<LanguageModelV3CallOptions>();
}
