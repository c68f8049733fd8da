import type Anthropic from '@anthropic-ai/sdk';
import type { BetaMessage, BetaMessageParam, BetaRawMessageStreamEvent } from '@anthropic-ai/sdk/resources/beta/messages';
import type * as Beta from '@anthropic-ai/sdk/resources/beta/messages/messages';
import type {
  Message,
  MessageCreateParams,
  MessageCreateParamsNonStreaming,
  MessageCreateParamsStreaming,
  MessageParam,
  RawMessageStreamEvent,
} from '@anthropic-ai/sdk/resources/messages';
import type { MessageStreamParams } from '@anthropic-ai/sdk/resources/messages/messages';
import { expectTypeOf, it } from 'vitest';
import type { ProviderAdapter, ReplySummary, SummaryFork } from '../../src/adapters/adapter.ts';
import {
  type AnthropicMessage,
  type AnthropicReply,
  type AnthropicRequest,
  anthropicMessages,
} from '../../src/adapters/anthropic.ts';

const adapter = anthropicMessages();

it('takes the requests of the SDK without a cast', () => {
  expectTypeOf<MessageCreateParamsNonStreaming>().toExtend<AnthropicRequest>();
  expectTypeOf<MessageCreateParamsStreaming>().toExtend<AnthropicRequest>();
  expectTypeOf<MessageCreateParams>().toExtend<AnthropicRequest>();
  expectTypeOf<MessageStreamParams>().toExtend<AnthropicRequest>();
  expectTypeOf<Beta.MessageCreateParamsNonStreaming>().toExtend<AnthropicRequest>();
  expectTypeOf<Beta.MessageCreateParamsStreaming>().toExtend<AnthropicRequest>();
  expectTypeOf<MessageParam>().toExtend<AnthropicMessage>();
  expectTypeOf<BetaMessageParam>().toExtend<AnthropicMessage>();
});

it('takes the replies of the SDK without a cast', () => {
  expectTypeOf<Message>().toExtend<AnthropicReply>();
  expectTypeOf<BetaMessage>().toExtend<AnthropicReply>();
  expectTypeOf<AsyncIterable<RawMessageStreamEvent>>().toExtend<AnthropicReply>();
  expectTypeOf<AsyncIterable<BetaRawMessageStreamEvent>>().toExtend<AnthropicReply>();
  type Create = Anthropic['messages']['create'];
  expectTypeOf<Awaited<ReturnType<Create>>>().toExtend<AnthropicReply>();
  expectTypeOf<ReturnType<Anthropic['messages']['stream']>>().toExtend<AnthropicReply>();
  expectTypeOf<ReturnType<Anthropic['beta']['messages']['stream']>>().toExtend<AnthropicReply>();
});

it('gives the caller back its own request type', () => {
  const request: MessageCreateParamsNonStreaming = {
    model: 'claude',
    max_tokens: 1,
    messages: [{ role: 'user', content: 'Hi' }],
  };
  expectTypeOf(adapter.withItems(request, request.messages)).toEqualTypeOf<MessageCreateParamsNonStreaming>();
  expectTypeOf(adapter.forkForSummary(request, 'x', { maxTokens: 1 })).toEqualTypeOf<
    SummaryFork<MessageCreateParamsNonStreaming>
  >();
  expectTypeOf(adapter.readReply).returns.resolves.toEqualTypeOf<ReplySummary<AnthropicMessage>>();
});

it('lets a wrapper infer request and reply from the send function', () => {
  const wrap = <Shape, Item, ReplyShape, Request extends Shape, Reply extends ReplyShape>(
    send: (request: Request, context: { signal: AbortSignal }) => PromiseLike<Reply>,
    _options: { adapter: ProviderAdapter<Shape, Item, ReplyShape> },
  ): typeof send => send;
  const check = (client: Anthropic): void => {
    const whole = wrap((request: MessageCreateParamsNonStreaming, { signal }) => client.messages.create(request, { signal }), {
      adapter,
    });
    expectTypeOf(whole).returns.resolves.toExtend<Message>();
    const events = wrap((request: MessageCreateParamsStreaming, { signal }) => client.messages.create(request, { signal }), {
      adapter,
    });
    expectTypeOf(events).returns.resolves.toExtend<AsyncIterable<RawMessageStreamEvent>>();
    const stream = wrap(async (request: MessageCreateParams, { signal }) => client.messages.stream(request, { signal }), {
      adapter,
    });
    expectTypeOf(stream).returns.resolves.toExtend<AsyncIterable<unknown>>();
    const beta = wrap((request: Beta.MessageCreateParamsNonStreaming) => client.beta.messages.create(request), { adapter });
    expectTypeOf(beta).returns.resolves.toExtend<BetaMessage>();
  };
  expectTypeOf(check).toBeFunction();
});
