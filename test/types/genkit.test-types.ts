// Compiled, never run: the framework's own types fit the adapter's bounds and the middleware's without a cast.
import {
  type GenerateMiddlewareDef,
  type GenerateOptions,
  type GenerateResponse,
  type Genkit,
  generateMiddleware,
  type Message,
  type MessageData,
} from 'genkit';
import type {
  GenerateRequest,
  GenerateResponseData,
  ModelAction,
  ModelMiddlewareArgument,
  ModelMiddlewareWithOptions,
} from 'genkit/model';

import { expectTypeOf } from 'vitest';
import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import {
  type GenkitMessage,
  type GenkitMiddleware,
  type GenkitReply,
  type GenkitRequest,
  genkitMiddleware,
  genkitModel,
} from '../../src/frameworks/genkit.ts';
import { withAutoCompaction } from '../../src/wrap.ts';

expectTypeOf(genkitModel).returns.toEqualTypeOf<ProviderAdapter<GenkitRequest, GenkitMessage, GenkitReply>>();

expectTypeOf<GenerateRequest>().toExtend<GenkitRequest>();
expectTypeOf<MessageData>().toExtend<GenkitMessage>();
expectTypeOf<Message>().toExtend<GenkitMessage>();
expectTypeOf<GenerateResponseData>().toExtend<GenkitReply>();
expectTypeOf<GenerateResponse>().toExtend<GenkitReply>();

/** All that `use` takes, and a model's own `use`. */
const compacting = genkitMiddleware({ contextWindow: 1_000_000, conversation: () => 'one' });
export const asArgument: ModelMiddlewareArgument = compacting;
export const withOptions: ModelMiddlewareWithOptions = compacting;
export const inPlace: ModelMiddlewareWithOptions = genkitMiddleware({ contextWindow: 1_000_000 });
export const definition: GenerateMiddlewareDef = { model: compacting };
expectTypeOf(compacting).toEqualTypeOf<GenkitMiddleware<GenkitRequest, GenkitReply>>();
expectTypeOf<GenkitMiddleware<GenkitRequest, GenkitReply>>().toExtend<NonNullable<NonNullable<GenerateOptions['use']>[number]>>();

export async function generateThrough(ai: Genkit): Promise<void> {
  const registered = generateMiddleware({ name: 'compacting' }, () => ({ model: compacting }));
  const model = ai.defineModel({ name: 'm', apiVersion: 'v2', use: [compacting] }, async () => ({ finishReason: 'stop' }));
  await ai.generate({ model, prompt: 'Hello', use: [compacting, genkitMiddleware(), registered()] });
  ai.generateStream({ model, prompt: 'Hello', use: [compacting] });
  ai.definePrompt({ name: 'p', model, use: [compacting] });
}

/** Another model may write the summary; the request is the caller's own type then. */
export function summarizeElsewhere(cheap: ModelAction): ModelMiddlewareWithOptions {
  return genkitMiddleware({
    summary: {
      send: (request: GenerateRequest, { signal }): Promise<GenerateResponseData> => cheap(request, { abortSignal: signal }),
    },
    commit: ({ request }) => {
      expectTypeOf(request).toEqualTypeOf<GenerateRequest>();
    },
  });
}

/** Requests keep their own type on the way through the adapter, and what a reply says goes in again. */
export async function callModel(model: ModelAction, request: GenerateRequest): Promise<void> {
  const adapter = genkitModel();
  const reply = await model(request);
  const { items } = await adapter.readReply(reply);
  const rebuilt = adapter.withItems(request, [...adapter.items(request), ...items]);
  const { request: fork } = adapter.forkForSummary(adapter.withSystem(rebuilt, 'Be brief.'), 'Summarize.', { maxTokens: 1000 });
  adapter.usage(await model(fork));
  const call = withAutoCompaction((request: GenerateRequest, { signal }) => model(request, { abortSignal: signal }), {
    adapter: genkitModel(),
    contextWindow: 1_000_000,
  });
  expectTypeOf(await call(request)).toExtend<GenerateResponseData>();
}
