import { describe } from 'vitest';
import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import {
  type AnthropicMessage,
  type AnthropicReply,
  type AnthropicRequest,
  anthropicMessages,
} from '../../src/adapters/anthropic.ts';
import { type ChatMessage, type ChatReply, type ChatRequest, openaiChat } from '../../src/adapters/openai-chat.ts';
import { validateAnthropic } from '../../src/testing/wire/anthropic.ts';
import { validateOpenAiChat } from '../../src/testing/wire/openai-chat.ts';
import type { WireViolation } from '../../src/testing/wire/violation.ts';
import { play } from './report-streams.ts';

export interface RequestFields {
  model?: string;
  system?: string;
  /** Default true. */
  tools?: boolean;
  /** Output cap; default 1,000. */
  cap?: number;
}

/** What a reply of the model says, and how it ends. */
export interface ReplyContent {
  text?: string | null;
  thinking?: string;
  calls?: readonly string[];
  /** `cut`: it ends without saying how. Default: `calls` where there are calls, else `stop`. */
  finish?: 'stop' | 'calls' | 'length' | 'refused' | 'filtered' | 'cut';
  /** Tokens of the whole input; null for no usage at all. Default null. */
  inputTokens?: number | null;
}

/** One provider's way to write what the reports tell. */
export interface ReportShape<Request extends object, Item extends object, Reply> {
  readonly name: string;
  readonly adapter: ProviderAdapter<Request, Item, Reply>;
  /** What the provider would refuse. */
  validate(body: unknown): WireViolation[];
  request(items: readonly Item[], fields?: RequestFields): Request;
  user(...texts: readonly string[]): Item;
  assistant(text: string): Item;
  calls(ids: readonly string[], text?: string): Item;
  /** The results of one round, as the provider's own agents write them. */
  results(entries: readonly (readonly [id: string, text: string])[]): Item[];
  image(data: string): Item;
  reply(content: ReplyContent): Reply;
  stream(events: readonly object[]): Reply;
}

export const systemText = 'You are a careful engineer. Never touch the lock file.';
const toolNames = ['read', 'write'] as const;

const schema = { type: 'object', properties: { path: { type: 'string' } } };

const chat: ReportShape<ChatRequest, ChatMessage, ChatReply> = {
  name: 'openai-chat',
  adapter: openaiChat(),
  validate: validateOpenAiChat,
  request: (items, { model = 'gpt-5', system = systemText, tools = true, cap = 1000 } = {}) => ({
    model,
    max_completion_tokens: cap,
    messages: system === '' ? items : [{ role: 'system', content: system }, ...items],
    ...(tools && { tools: toolNames.map((name) => ({ type: 'function', function: { name, parameters: schema } })) }),
  }),
  user: (...texts) => ({ role: 'user', content: texts.length === 1 ? texts[0] : texts.map((text) => ({ type: 'text', text })) }),
  assistant: (text) => ({ role: 'assistant', content: text }),
  calls: (ids, text) => ({ role: 'assistant', content: text ?? null, tool_calls: ids.map(chatCall) }),
  results: (entries) => entries.map(([id, text]) => ({ role: 'tool', tool_call_id: id, content: text })),
  image: (data) => ({ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }] }),
  stream: play,
  reply({ text = null, thinking, calls = [], finish = calls.length > 0 ? 'calls' : 'stop', inputTokens = null }) {
    const reasons = {
      stop: 'stop',
      calls: 'tool_calls',
      length: 'length',
      refused: 'stop',
      filtered: 'content_filter',
      cut: null,
    };
    return {
      choices: [
        {
          message: {
            role: 'assistant',
            content: finish === 'refused' ? null : text,
            ...(finish === 'refused' && { refusal: text }),
            ...(thinking && { reasoning_content: thinking }),
            ...(calls.length > 0 && { tool_calls: calls.map(chatCall) }),
          },
          finish_reason: reasons[finish],
        },
      ],
      ...(inputTokens !== null && {
        usage: { prompt_tokens: inputTokens, completion_tokens: 10, total_tokens: inputTokens + 10 },
      }),
    };
  },
};

function chatCall(id: string): object {
  return { id, type: 'function', function: { name: 'read', arguments: JSON.stringify({ path: `${id}.ts` }) } };
}

const anthropic: ReportShape<AnthropicRequest, AnthropicMessage, AnthropicReply> = {
  name: 'anthropic',
  adapter: anthropicMessages(),
  // The histories use ids again, as some hosts do: such a request goes out as it is.
  validate: (body) => validateAnthropic(body).filter(({ rule }) => rule !== 'tool-id-repeated'),
  request: (items, { model = 'claude-sonnet-4-5', system = systemText, tools = true, cap = 1000 } = {}) => ({
    model,
    max_tokens: cap,
    messages: items,
    ...(system !== '' && { system }),
    ...(tools && { tools: toolNames.map((name) => ({ name, input_schema: schema })) }),
  }),
  user: (...texts) => ({ role: 'user', content: texts.map(textBlock) }),
  assistant: (text) => ({ role: 'assistant', content: [textBlock(text)] }),
  calls: (ids, text) => ({ role: 'assistant', content: [...(text ? [textBlock(text)] : []), ...ids.map(anthropicCall)] }),
  results: (entries) => [{ role: 'user', content: entries.map(([id, text]) => anthropicResult(id, text)) }],
  image: (data) => ({
    role: 'user',
    content: [block({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })],
  }),
  stream: play,
  reply({ text, thinking, calls = [], finish = calls.length > 0 ? 'calls' : 'stop', inputTokens = null }) {
    const reasons = {
      stop: 'end_turn',
      calls: 'tool_use',
      length: 'max_tokens',
      refused: 'refusal',
      filtered: 'refusal',
      cut: null,
    };
    return {
      content: [
        ...(thinking ? [block({ type: 'thinking', thinking, signature: 'c2lnbmVk' })] : []),
        ...(text ? [textBlock(text)] : []),
        ...calls.map(anthropicCall),
      ],
      stop_reason: reasons[finish],
      ...(inputTokens !== null && { usage: { input_tokens: inputTokens, output_tokens: 10 } }),
    };
  },
};

/** A block with fields beyond those that the adapter's type names. */
export function block<Block extends { type: string }>(fields: Block): Block {
  return fields;
}

function textBlock(text: string): { type: string; text: string } {
  return block({ type: 'text', text });
}

function anthropicCall(id: string): { type: string; id: string } {
  return block({ type: 'tool_use', id, name: 'read', input: { path: `${id}.ts` } });
}

export function anthropicResult(id: string, text: string): { type: string; tool_use_id: string } {
  return block({ type: 'tool_result', tool_use_id: id, content: text });
}

export { anthropic as anthropicShape, chat as chatShape };

/** Runs the same tests for both providers. */
export function onBothShapes(
  define: <Request extends object, Item extends object, Reply>(shape: ReportShape<Request, Item, Reply>) => void,
): void {
  describe(chat.name, () => define(chat));
  describe(anthropic.name, () => define(anthropic));
}
