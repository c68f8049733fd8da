// Compiled, never run: the SDK's own types fit the adapter's bounds without a cast.
import type OpenAI from 'openai';
import type { ChatCompletionStream } from 'openai/lib/ChatCompletionStream';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateParams,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessage,
  ChatCompletionMessageParam,
  ParsedChatCompletion,
} from 'openai/resources/chat/completions';
import type { Stream } from 'openai/streaming';
import { expectTypeOf } from 'vitest';
import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import { type ChatMessage, type ChatReply, type ChatRequest, openaiChat } from '../../src/adapters/openai-chat.ts';

expectTypeOf(openaiChat).returns.toEqualTypeOf<ProviderAdapter<ChatRequest, ChatMessage, ChatReply>>();

expectTypeOf<ChatCompletionCreateParams>().toExtend<ChatRequest>();
expectTypeOf<ChatCompletionCreateParamsNonStreaming>().toExtend<ChatRequest>();
expectTypeOf<ChatCompletionCreateParamsStreaming>().toExtend<ChatRequest>();
expectTypeOf<ChatCompletionMessageParam>().toExtend<ChatMessage>();
expectTypeOf<ChatCompletionMessage>().toExtend<ChatMessage>();
expectTypeOf<ChatCompletion>().toExtend<ChatReply>();
expectTypeOf<ParsedChatCompletion<{ title: string }>>().toExtend<ChatReply>();
expectTypeOf<Stream<ChatCompletionChunk>>().toExtend<ChatReply>();
expectTypeOf<ChatCompletionStream>().toExtend<ChatReply>();

/** Requests keep their own type on the way through the adapter. */
export async function sendThrough(client: OpenAI, request: ChatCompletionCreateParamsNonStreaming): Promise<void> {
  const adapter = openaiChat();
  const pushed: ChatCompletionMessageParam[] = request.messages;
  const rebuilt = adapter.withItems(request, [...adapter.items(request), ...pushed]);
  const { request: fork } = adapter.forkForSummary(adapter.withSystem(rebuilt, 'Be brief.'), 'Summarize.', { maxTokens: 1000 });
  const reply = await client.chat.completions.create(fork);
  await adapter.readReply(reply);
  adapter.usage(reply);
}

export async function streamThrough(client: OpenAI, request: ChatCompletionCreateParamsStreaming): Promise<void> {
  const adapter = openaiChat();
  const { request: fork } = adapter.forkForSummary(request, 'Summarize.', { maxTokens: 1000 });
  await adapter.readReply(await client.chat.completions.create(fork));
  await adapter.readReply(client.chat.completions.stream({ model: fork.model, messages: fork.messages }));
}

export async function sendEither(client: OpenAI, request: ChatCompletionCreateParams): Promise<void> {
  await openaiChat().readReply(await client.chat.completions.create(request));
}
