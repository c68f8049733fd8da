// Compiled, never run: the SDK's own types fit the adapter's bounds without a cast.
import type OpenAI from 'openai';
import type { ResponseStream, ResponseStreamParams } from 'openai/lib/responses/ResponseStream';
import type {
  ParsedResponse,
  Response,
  ResponseCreateParams,
  ResponseCreateParamsNonStreaming,
  ResponseCreateParamsStreaming,
  ResponseInput,
  ResponseInputItem,
  ResponseOutputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import type { Stream } from 'openai/streaming';
import { expectTypeOf } from 'vitest';
import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import {
  openaiResponses,
  type ResponsesItem,
  type ResponsesReply,
  type ResponsesRequest,
} from '../../src/adapters/openai-responses.ts';
import { createCompactor } from '../../src/compactor.ts';
import { withAutoCompaction } from '../../src/wrap.ts';

expectTypeOf(openaiResponses).returns.toEqualTypeOf<ProviderAdapter<ResponsesRequest, ResponsesItem, ResponsesReply>>();

expectTypeOf<ResponseCreateParams>().toExtend<ResponsesRequest>();
expectTypeOf<ResponseCreateParamsNonStreaming>().toExtend<ResponsesRequest>();
expectTypeOf<ResponseCreateParamsStreaming>().toExtend<ResponsesRequest>();
expectTypeOf<ResponseStreamParams>().toExtend<ResponsesRequest>();
expectTypeOf<ResponseInputItem>().toExtend<ResponsesItem>();
expectTypeOf<ResponseOutputItem>().toExtend<ResponsesItem>();
expectTypeOf<Response>().toExtend<ResponsesReply>();
expectTypeOf<ParsedResponse<{ title: string }>>().toExtend<ResponsesReply>();
expectTypeOf<Stream<ResponseStreamEvent>>().toExtend<ResponsesReply>();
expectTypeOf<ResponseStream>().toExtend<ResponsesReply>();

/** Requests keep their own type on the way through the adapter, and what a reply puts out goes in again. */
export async function sendThrough(client: OpenAI, request: ResponseCreateParamsNonStreaming): Promise<void> {
  const adapter = openaiResponses();
  const { output } = await client.responses.create(request);
  const rebuilt = adapter.withItems(request, [...adapter.items(request), ...output]);
  const { request: fork } = adapter.forkForSummary(adapter.withSystem(rebuilt, 'Be brief.'), 'Summarize.', { maxTokens: 1000 });
  const reply = await client.responses.create(fork);
  await adapter.readReply(reply);
  adapter.usage(reply);
}

export async function streamThrough(client: OpenAI, request: ResponseCreateParamsStreaming): Promise<void> {
  const adapter = openaiResponses();
  const { request: fork } = adapter.forkForSummary(request, 'Summarize.', { maxTokens: 1000 });
  await adapter.readReply(await client.responses.create(fork));
  await adapter.readReply(client.responses.stream({ model: 'gpt-5', input: 'Hello' }));
}

/** The types of the SDK are inferred from what is sent. */
export async function wrapCalls(client: OpenAI, input: ResponseInput): Promise<void> {
  const create = withAutoCompaction(
    (request: ResponseCreateParamsNonStreaming, { signal }) => client.responses.create(request, { signal }),
    { adapter: openaiResponses(), contextWindow: 400_000 },
  );
  expectTypeOf(await create({ model: 'gpt-5', input })).toExtend<Response>();
  const stream = withAutoCompaction(
    (request: ResponseCreateParamsStreaming, { signal }) => client.responses.create(request, { signal }),
    { adapter: openaiResponses(), contextWindow: 400_000 },
  );
  expectTypeOf(await stream({ model: 'gpt-5', input, stream: true })).toExtend<Stream<ResponseStreamEvent>>();
  const compactor = createCompactor({
    adapter: openaiResponses(),
    contextWindow: 400_000,
    send: (request: ResponseCreateParamsNonStreaming, { signal }) => client.responses.create(request, { signal }),
  });
  expectTypeOf(await compactor.prepare({ model: 'gpt-5', input })).toExtend<ResponseCreateParamsNonStreaming>();
}
