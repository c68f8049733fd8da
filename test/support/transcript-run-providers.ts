import type { Message, MessageCreateParamsNonStreaming, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type {
  ChatCompletion,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessage,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { ProviderAdapter } from '../../src/adapters/adapter.ts';
import {
  type AnthropicMessage,
  anthropicMessages,
  type AnthropicReply as ReplyShape,
  type AnthropicRequest as RequestShape,
} from '../../src/adapters/anthropic.ts';
import { type ChatMessage, type ChatReply, type ChatRequest, openaiChat } from '../../src/adapters/openai-chat.ts';
import { validateAnthropic } from '../../src/testing/wire/anthropic.ts';
import { validateOpenAiChat } from '../../src/testing/wire/openai-chat.ts';
import type { WireViolation } from '../../src/testing/wire/violation.ts';
import { requestTokens } from './request-tokens.ts';
import type { Body } from './transcript-run-messages.ts';
import { type AnthropicReply, anthropicRequest, anthropicSteps } from './transcripts/anthropic-steps.ts';
import { openaiRequest, openaiSteps } from './transcripts/openai-steps.ts';
import type { Conversation } from './transcripts/recording.ts';

/** One request of a recorded agent. */
export interface ReplayStep<Request, Reply> {
  /** Holds the caller's own array, which grows from step to step. */
  request: Request;
  /** What is new in it since the reply before. */
  added: readonly object[];
  /** The recorded reply, as the provider gives it to a request of so many tokens. */
  answer: (inputTokens: number) => Reply;
  /** The same, as the caller appends it. */
  reply: object;
}

/** A provider that replies what was recorded. */
export interface Provider<Shape, Item, ShapeOfReply, Request extends Shape & Body, Reply extends ShapeOfReply> {
  adapter: ProviderAdapter<Shape, Item, ShapeOfReply>;
  validate: (body: unknown) => WireViolation[];
  /** Each call plays the conversation once more, with the same message objects. */
  replay: (conversation: Conversation) => () => Iterable<ReplayStep<Request, Reply>>;
  outputCap: (request: Request) => number;
  writeSummary: (text: string, inputTokens: number) => Reply;
}

// As large as the margin that is kept free in these windows anyway, so that both providers have the same budget.
const anthropicOutputCap = 4096;

export const openaiProvider: Provider<
  ChatRequest,
  ChatMessage,
  ChatReply,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletion
> = {
  adapter: openaiChat(),
  validate: validateOpenAiChat,
  replay(conversation) {
    const steps = openaiSteps(conversation);
    return function* () {
      const messages: ChatCompletionMessageParam[] = [];
      for (const turn of steps.turns) {
        messages.push(...turn.messages);
        yield {
          request: openaiRequest(steps, messages),
          added: turn.messages,
          answer: (inputTokens) => writeCompletion(turn.reply, inputTokens),
          reply: turn.reply,
        };
        messages.push(turn.reply);
      }
    };
  },
  outputCap: (request) => request.max_completion_tokens ?? 0,
  writeSummary: (content, inputTokens) => writeCompletion({ role: 'assistant', content, refusal: null }, inputTokens),
};

export const anthropicProvider: Provider<RequestShape, AnthropicMessage, ReplyShape, MessageCreateParamsNonStreaming, Message> = {
  adapter: anthropicMessages(),
  validate: validateAnthropic,
  replay(conversation) {
    const steps = anthropicSteps(conversation);
    return function* () {
      const messages: MessageParam[] = [];
      for (const turn of steps.turns) {
        messages.push(...turn.messages);
        yield {
          request: { ...anthropicRequest(steps, messages), max_tokens: anthropicOutputCap },
          added: turn.messages,
          answer: (inputTokens) => writeMessage(turn.reply, inputTokens),
          reply: turn.reply,
        };
        messages.push(turn.reply);
      }
    };
  },
  outputCap: (request) => request.max_tokens,
  writeSummary: (text, inputTokens) =>
    writeMessage({ role: 'assistant', content: [{ type: 'text', text, citations: null }] }, inputTokens),
};

function writeCompletion(message: ChatCompletionMessage, inputTokens: number): ChatCompletion {
  const outputTokens = requestTokens({ messages: [message] });
  return {
    id: 'chatcmpl',
    object: 'chat.completion',
    created: 0,
    model: 'gpt-5',
    choices: [{ index: 0, finish_reason: message.tool_calls ? 'tool_calls' : 'stop', logprobs: null, message }],
    usage: { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens },
  };
}

function writeMessage(reply: AnthropicReply, inputTokens: number): Message {
  return {
    ...reply,
    id: 'msg',
    type: 'message',
    model: 'claude-opus-4-6',
    stop_reason: reply.content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: {
      input_tokens: inputTokens,
      output_tokens: requestTokens({ messages: [reply] }),
      cache_creation: null,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: null,
      inference_geo: null,
      output_tokens_details: null,
      server_tool_use: null,
      service_tier: null,
      speed: null,
    },
  };
}
