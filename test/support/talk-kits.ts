import type { AnthropicMessage, AnthropicReply, AnthropicRequest } from '../../src/adapters/anthropic.ts';
import type { ChatMessage, ChatReply, ChatRequest } from '../../src/adapters/openai-chat.ts';
import type { Part } from '../../src/message.ts';
import { anthropicKit } from '../../src/testing/kits/anthropic.ts';
import { openaiChatKit } from '../../src/testing/kits/openai-chat.ts';
import type { ProviderKit } from '../../src/testing/provider-kit.ts';

/** What a test needs to hold a conversation in a provider's own shape, one item a message. */
export interface TalkKit<Request, Item, Reply> {
  adapter: ProviderKit<Request, Item, Reply>['adapter'];
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

function talkKit<Request, Item, Reply>(
  kit: ProviderKit<Request, Item, Reply>,
  mark: (item: Item) => Item,
): TalkKit<Request, Item, Reply> {
  const write = (role: 'user' | 'assistant' | 'tool', part: Part): Item => {
    const [item] = kit.adapter.writeMessage({ role, parts: [part] });
    if (item === undefined) throw new Error('Expected a part that can be written.');
    return item;
  };
  return {
    adapter: kit.adapter,
    request: (system, items) => kit.request(items, { system }),
    user: (text) => write('user', { type: 'text', text }),
    assistant: (text) => write('assistant', { type: 'text', text }),
    call: (id) => write('assistant', { type: 'toolCall', id, name: 'read', input: { path: 'a.ts' } }),
    result: (id, text) => write('tool', { type: 'toolResult', callId: id, content: [{ type: 'text', text }] }),
    reply: (text, inputTokens) => kit.reply({ text, usage: { inputTokens, outputTokens: 10 } }),
    mark,
  };
}

const marker = { cache_control: { type: 'ephemeral' } };

export const chatKit: TalkKit<ChatRequest, ChatMessage, ChatReply> = talkKit(openaiChatKit, (item) => {
  const parts = typeof item.content === 'string' ? [{ type: 'text', text: item.content }] : item.content;
  return Array.isArray(parts) ? { ...item, content: parts.map((part) => ({ ...part, ...marker })) } : item;
});

export const claudeKit: TalkKit<AnthropicRequest, AnthropicMessage, AnthropicReply> = talkKit(anthropicKit, (item) => {
  const blocks = typeof item.content === 'string' ? [{ type: 'text', text: item.content }] : (item.content ?? []);
  return { ...item, content: blocks.map((block) => ({ ...block, ...marker })) };
});
