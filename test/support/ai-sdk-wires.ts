import type { ServerResponse } from 'node:http';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import { validateAnthropic } from '../../src/testing/wire/anthropic.ts';
import { validateOpenAiChat } from '../../src/testing/wire/openai-chat.ts';
import { validateOpenAiResponses } from '../../src/testing/wire/openai-responses.ts';
import type { WireViolation } from '../../src/testing/wire/violation.ts';
import { sendEvents, sendJson } from './http-server.ts';

export type Body = Record<string, unknown>;

/** What the model says: a text, or a call of the tool `read_page`. */
export type Says = { text: string } | { call: number };

/** One of the wire formats that the SDK's providers speak. */
export interface AiSdkWire {
  name: string;
  model: (url: string) => LanguageModelV3;
  validate: (body: unknown) => WireViolation[];
  /** The conversation in a body. */
  messages: (body: Body) => unknown[];
  /** Answers a body as the provider would, as JSON or as events. */
  answer: (body: Body, response: ServerResponse, says: Says) => void;
}

const inputTokens = (body: Body): number => Math.ceil(JSON.stringify(body).length / 4);

function send(response: ServerResponse, body: Body, reply: object, events: readonly unknown[]): void {
  if (!body.stream) {
    sendJson(response, 200, reply);
    return;
  }
  sendEvents(response, events);
  response.end();
}

function halves(text: string): string[] {
  const half = Math.ceil(text.length / 2);
  return [text.slice(0, half), text.slice(half)];
}

const chat: AiSdkWire = {
  name: 'openai.chat',
  model: (url) => createOpenAI({ apiKey: 'test', baseURL: `${url}/v1` }).chat('gpt-4.1'),
  validate: validateOpenAiChat,
  messages: ({ messages }) => messages as unknown[],
  answer(body, response, says) {
    const tool_calls =
      'call' in says
        ? [{ id: `call_${says.call}`, type: 'function', function: { name: 'read_page', arguments: `{"page":${says.call}}` } }]
        : undefined;
    const finish_reason = tool_calls ? 'tool_calls' : 'stop';
    const prompt_tokens = inputTokens(body);
    const usage = { prompt_tokens, completion_tokens: 20, total_tokens: prompt_tokens + 20 };
    const envelope = { id: 'c', created: 1, model: 'gpt-4.1' };
    const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
      ...envelope,
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...more,
    });
    const message = { role: 'assistant', content: 'text' in says ? says.text : null, tool_calls };
    send(response, body, { ...envelope, choices: [{ index: 0, message, finish_reason }], usage }, [
      ...('text' in says
        ? halves(says.text).map((content) => chunk({ content }))
        : [chunk({ tool_calls: tool_calls?.map((call) => ({ index: 0, ...call })) })]),
      chunk({}, finish_reason, { usage }),
      '[DONE]',
    ]);
  },
};

const responses = (name: string, modelId: string): AiSdkWire => ({
  name,
  model: (url) => createOpenAI({ apiKey: 'test', baseURL: `${url}/v1` })(modelId),
  validate: validateOpenAiResponses,
  messages: ({ input }) => input as unknown[],
  answer(body, response, says) {
    const number = 'call' in says ? says.call : 'last';
    const reasoning = { type: 'reasoning', id: `rs_${number}`, summary: [], encrypted_content: 'gAAA' };
    const item =
      'call' in says
        ? { type: 'function_call', id: `fc_${number}`, call_id: `call_${number}`, name: 'read_page', status: 'completed' }
        : { type: 'message', id: `msg_${number}`, role: 'assistant', status: 'completed' };
    const whole =
      'call' in says
        ? { ...item, arguments: `{"page":${number}}` }
        : { ...item, content: [{ type: 'output_text', text: says.text, annotations: [] }] };
    const output = modelId === 'gpt-5' ? [reasoning, whole] : [whole];
    const input_tokens = inputTokens(body);
    const usage = {
      input_tokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: input_tokens + 20,
    };
    const reply = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: modelId, output, usage };
    const position = output.length - 1;
    send(response, body, { ...reply, error: null, incomplete_details: null }, [
      { type: 'response.created', response: { ...reply, output: [], status: 'in_progress' } },
      ...output.slice(0, -1).flatMap((entry, output_index) => [
        { type: 'response.output_item.added', output_index, item: entry },
        { type: 'response.output_item.done', output_index, item: entry },
      ]),
      {
        type: 'response.output_item.added',
        output_index: position,
        item: 'call' in says ? { ...whole, arguments: '' } : { ...item, content: [] },
      },
      ...('text' in says
        ? halves(says.text).map((delta) => ({
            type: 'response.output_text.delta',
            item_id: item.id,
            output_index: position,
            delta,
          }))
        : []),
      { type: 'response.output_item.done', output_index: position, item: whole },
      { type: 'response.completed', response: reply },
    ]);
  },
});

const anthropic: AiSdkWire = {
  name: 'anthropic.messages',
  model: (url) => createAnthropic({ apiKey: 'test', baseURL: `${url}/v1` })('claude-sonnet-4-5'),
  validate: validateAnthropic,
  messages: ({ messages }) => messages as unknown[],
  answer(body, response, says) {
    const thinking = { type: 'thinking', thinking: 'Which page?', signature: 'c2lnbmVk' };
    const block =
      'call' in says
        ? { type: 'tool_use', id: `toolu_${says.call}`, name: 'read_page', input: { page: says.call } }
        : { type: 'text', text: says.text };
    const stop_reason = 'call' in says ? 'tool_use' : 'end_turn';
    const usage = { input_tokens: inputTokens(body) - 100, cache_read_input_tokens: 100, output_tokens: 20 };
    const reply = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' };
    send(response, body, { ...reply, content: [thinking, block], stop_reason, stop_sequence: null, usage }, [
      { type: 'message_start', message: { ...reply, content: [], stop_reason: null, stop_sequence: null, usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: thinking.thinking } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: thinking.signature } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'content_block_start',
        index: 1,
        content_block: 'call' in says ? { ...block, input: {} } : { type: 'text', text: '' },
      },
      ...('text' in says
        ? halves(says.text).map((text) => ({ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text } }))
        : [
            {
              type: 'content_block_delta',
              index: 1,
              delta: { type: 'input_json_delta', partial_json: `{"page":${says.call}}` },
            },
          ]),
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } },
      { type: 'message_stop' },
    ]);
  },
};

export const aiSdkWires: readonly AiSdkWire[] = [
  chat,
  responses('openai.responses, which reasons', 'gpt-5'),
  responses('openai.responses, which does not', 'gpt-4.1'),
  anthropic,
];
