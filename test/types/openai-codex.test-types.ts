// Compiled, never run: the SDK's own types fit the adapter's bounds without a cast.
import type OpenAI from 'openai';
import type { ResponseCreateParamsStreaming, ResponseStreamEvent } from 'openai/resources/responses/responses';
import type { Stream } from 'openai/streaming';
import { expectTypeOf } from 'vitest';
import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import { openaiCodex, type ResponsesItem, type ResponsesReply, type ResponsesRequest } from '../../src/adapters/openai-codex.ts';
import { createCompactor } from '../../src/compactor.ts';
import { withAutoCompaction } from '../../src/wrap.ts';

expectTypeOf(openaiCodex).returns.toEqualTypeOf<ProviderAdapter<ResponsesRequest, ResponsesItem, ResponsesReply>>();

/** Requests keep their own type on the way through the adapter. */
export async function streamThrough(client: OpenAI, request: ResponseCreateParamsStreaming): Promise<void> {
  const adapter = openaiCodex();
  const rebuilt = adapter.withItems(adapter.withSystem(request, 'Be brief.'), adapter.items(request));
  const { request: fork } = adapter.forkForSummary(rebuilt, 'Summarize.', { maxTokens: 1000 });
  await adapter.readReply(await client.responses.create(fork));
}

/** The types of the SDK are inferred from what is sent. */
export async function wrapCalls(client: OpenAI, request: ResponseCreateParamsStreaming): Promise<void> {
  const options = { adapter: openaiCodex(), contextWindow: 272_000 };
  const create = withAutoCompaction(
    (body: ResponseCreateParamsStreaming, { signal }) => client.responses.create(body, { signal }),
    options,
  );
  expectTypeOf(await create(request)).toExtend<Stream<ResponseStreamEvent>>();
  const compactor = createCompactor({
    ...options,
    send: (body: ResponseCreateParamsStreaming, { signal }) => client.responses.create(body, { signal }),
  });
  expectTypeOf(await compactor.prepare(request)).toExtend<ResponseCreateParamsStreaming>();
  compactor.observe(request, { usage: { inputTokens: 1000, outputTokens: 10 }, responseId: 'resp_1' });
}
