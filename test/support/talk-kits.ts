import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import {
  type AnthropicMessage,
  type AnthropicReply,
  type AnthropicRequest,
  anthropicMessages,
} from '../../src/adapters/anthropic.ts';
import { type ChatMessage, type ChatReply, type ChatRequest, openaiChat } from '../../src/adapters/openai-chat.ts';
import { readTool, says } from './scripted-model.ts';

/** What a test needs to hold a conversation in a provider's own shape. */
export interface TalkKit<Request, Item, Reply> {
  adapter: ProviderAdapter<Request, Item, Reply>;
  request(system: string, items: Item[]): Request;
  user(text: string): Item;
  assistant(text: string): Item;
  call(id: string): Item;
  result(id: string, text: string): Item;
  /** A finished text, with usage. */
  reply(text: string, inputTokens: number): Reply;
  /** Puts the marker of the prompt cache on an item, as a new object. */
  mark(item: Item): Item;
}

export const chatKit: TalkKit<ChatRequest, ChatMessage, ChatReply> = {
  adapter: openaiChat(),
  request: (system, items) => ({ model: 'gpt-5', tools: [readTool], messages: [{ role: 'system', content: system }, ...items] }),
  user: (text) => ({ role: 'user', content: text }),
  assistant: (text) => ({ role: 'assistant', content: text }),
  call: (id) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'read', arguments: '{"path":"a.ts"}' } }],
  }),
  result: (id, text) => ({ role: 'tool', tool_call_id: id, content: text }),
  reply: (text, inputTokens) => ({
    ...says(text),
    usage: { prompt_tokens: inputTokens, completion_tokens: 10, total_tokens: inputTokens + 10 },
  }),
  mark: (item) => {
    const parts = typeof item.content === 'string' ? [{ type: 'text', text: item.content }] : item.content;
    return Array.isArray(parts)
      ? { ...item, content: parts.map((part) => ({ ...part, cache_control: { type: 'ephemeral' } })) }
      : item;
  },
};

export const claudeKit: TalkKit<AnthropicRequest, AnthropicMessage, AnthropicReply> = {
  adapter: anthropicMessages(),
  request: (system, items) => ({
    model: 'claude-sonnet-4-5',
    max_tokens: 1000,
    system,
    tools: [{ name: 'read', description: 'Reads a file.', input_schema: { type: 'object' } }],
    messages: items,
  }),
  user: (text) => ({ role: 'user', content: text }),
  assistant: (text) => ({ role: 'assistant', content: text }),
  call: (id) => ({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: { path: 'a.ts' } } as never] }),
  result: (id, text) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text } as never] }),
  reply: (text, inputTokens) => ({
    content: [{ type: 'text', text } as never],
    stop_reason: 'end_turn',
    usage: { input_tokens: inputTokens, output_tokens: 10 },
  }),
  mark: (item) => {
    const blocks = typeof item.content === 'string' ? [{ type: 'text', text: item.content }] : (item.content ?? []);
    return { ...item, content: blocks.map((block) => ({ ...block, cache_control: { type: 'ephemeral' } })) };
  },
};
