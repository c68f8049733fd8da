import { type AnthropicMessage, type AnthropicRequest, anthropicMessages } from '../../src/adapters/anthropic.ts';
import { type ChatMessage, type ChatRequest, openaiChat } from '../../src/adapters/openai-chat.ts';
import { createItemReader, type ItemReader } from '../../src/history/reading.ts';
import { type RequestView, readRequest } from '../../src/history/view.ts';

export const readChat: ItemReader<ChatMessage> = createItemReader(openaiChat());
export const readClaude: ItemReader<AnthropicMessage> = createItemReader(anthropicMessages());

/** A Chat Completions request with these messages, read. */
export function chatView(
  messages: readonly ChatMessage[],
  fields: Partial<ChatRequest> = {},
): RequestView<ChatRequest, ChatMessage> {
  return readRequest(openaiChat(), readChat, { model: 'gpt-5', messages, ...fields });
}

/** An Anthropic request with these messages, read. */
export function claudeView(
  messages: readonly AnthropicMessage[],
  fields: Partial<AnthropicRequest> = {},
): RequestView<AnthropicRequest, AnthropicMessage> {
  return readRequest(anthropicMessages(), readClaude, { model: 'claude-sonnet-4-5', max_tokens: 1000, messages, ...fields });
}
