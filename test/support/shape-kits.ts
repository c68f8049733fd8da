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

/** What the user asks, the results of the calls in each step, and the answer. */
export interface Turn {
  user: string;
  steps: readonly (readonly string[])[];
  answer?: string | undefined;
}

/** How a reply is to end: `cut` does not say how. */
export type Ending = 'stop' | 'length' | 'refusal' | 'calls' | 'cut';

/** One provider's shape, as far as a test of the transaction needs it. */
export interface ShapeKit<Request extends { readonly messages: readonly Item[] }, Item, Reply> {
  name: string;
  adapter: ProviderAdapter<Request, Item, Reply>;
  /** Standing instructions at the start of the conversation. */
  leading: readonly Item[];
  /** A request with exactly this array. */
  request(messages: readonly Item[]): Request;
  turn(turn: Turn, id: string): Item[];
  reply(text: string, ending: Ending): Reply;
  /** The same in pieces; a reply that was cut has no last piece. */
  chunks(text: string, ending: Ending): object[];
  validate(body: unknown): WireViolation[];
}

const usage = { input_tokens: 50, output_tokens: 5 };

export const chatKit: ShapeKit<ChatRequest, ChatMessage, ChatReply> = {
  name: 'openai-chat',
  adapter: openaiChat(),
  leading: [{ role: 'system', content: 'Be exact.' }],
  request: (messages) => ({
    model: 'gpt-5',
    tools: [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }],
    messages,
  }),
  turn({ user, steps, answer }, id) {
    const worked = steps.flatMap((results, step): ChatMessage[] => [
      {
        role: 'assistant',
        content: null,
        tool_calls: results.map((_, call) => chatCall(`${id}_${step}_${call}`)),
      } as ChatMessage,
      ...results.map((content, call) => ({ role: 'tool', tool_call_id: `${id}_${step}_${call}`, content })),
    ]);
    return [
      { role: 'user', content: user },
      ...worked,
      ...(answer === undefined ? [] : [{ role: 'assistant', content: answer }]),
    ];
  },
  reply: (text, ending) => chatReply({ ...chatCalls(ending), content: text }, chatFinish[ending]),
  chunks(text, ending) {
    const half = Math.ceil(text.length / 2);
    const deltas = [
      { content: text.slice(0, half) },
      { content: text.slice(half) },
      ...(ending === 'calls' ? [chatCalls(ending)] : []),
    ];
    return [
      ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
      ...(ending === 'cut' ? [] : [{ choices: [{ index: 0, delta: {}, finish_reason: chatFinish[ending] }] }]),
    ];
  },
  validate: validateOpenAiChat,
};

const chatFinish = { stop: 'stop', length: 'length', refusal: 'content_filter', calls: 'tool_calls', cut: null } as const;

function chatReply(message: { content: string }, finish_reason: string | null): ChatReply {
  return { choices: [{ message, finish_reason }] };
}

function chatCall(id: string): object {
  return { index: 0, id, type: 'function', function: { name: 'read', arguments: '{"path":"a.ts"}' } };
}

function chatCalls(ending: Ending): object {
  return ending === 'calls' ? { tool_calls: [chatCall('call_private')] } : {};
}

export const anthropicKit: ShapeKit<AnthropicRequest, AnthropicMessage, AnthropicReply> = {
  name: 'anthropic',
  adapter: anthropicMessages(),
  leading: [],
  request: (messages) => ({
    model: 'claude-sonnet-4-5',
    max_tokens: 1000,
    system: 'Be exact.',
    tools: [{ name: 'read', input_schema: { type: 'object' } }],
    messages,
  }),
  turn({ user, steps, answer }, id) {
    const worked = steps.flatMap((results, step): AnthropicMessage[] => [
      { role: 'assistant', content: results.map((_, call) => anthropicCall(`${id}_${step}_${call}`)) },
      {
        role: 'user',
        content: results.map((content, call) => ({ type: 'tool_result', tool_use_id: `${id}_${step}_${call}`, content })),
      },
    ]);
    return [
      { role: 'user', content: user },
      ...worked,
      ...(answer === undefined ? [] : [{ role: 'assistant', content: answer }]),
    ];
  },
  reply: (text, ending) => ({ content: anthropicContent(text, ending), stop_reason: anthropicStop[ending], usage }),
  chunks(text, ending) {
    const start = { type: 'message_start', message: { role: 'assistant', content: [], stop_reason: null, usage } };
    const half = Math.ceil(text.length / 2);
    const texts = [text.slice(0, half), text.slice(half)].map((piece) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: piece },
    }));
    const call = [
      { type: 'content_block_start', index: 1, content_block: { ...anthropicCall('toolu_private'), input: {} } },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"path":"a.ts"}' } },
      { type: 'content_block_stop', index: 1 },
    ];
    return [
      start,
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...texts,
      { type: 'content_block_stop', index: 0 },
      ...(ending === 'calls' ? call : []),
      ...(ending === 'cut'
        ? []
        : [{ type: 'message_delta', delta: { stop_reason: anthropicStop[ending] }, usage }, { type: 'message_stop' }]),
    ];
  },
  // The scripted model uses its ids again in each round, as no real one does.
  validate: (body) => validateAnthropic(body).filter(({ rule }) => rule !== 'tool-id-repeated'),
};

const anthropicStop = { stop: 'end_turn', length: 'max_tokens', refusal: 'refusal', calls: 'tool_use', cut: null } as const;

function anthropicCall(id: string): { type: 'tool_use'; id: string; name: string; input: object } {
  return { type: 'tool_use', id, name: 'read', input: { path: 'a.ts' } };
}

function anthropicContent(text: string, ending: Ending): { type: string }[] {
  const said: { type: string; text: string } = { type: 'text', text };
  return ending === 'calls' ? [said, anthropicCall('toolu_private')] : [said];
}
