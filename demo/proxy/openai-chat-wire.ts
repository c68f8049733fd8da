import { openaiChat } from 'context-compactor/openai-chat';
import { validateOpenAiChat } from 'context-compactor/testing';
import type { ChatCompletion, ChatCompletionChunk, ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import { echoMark, type JsonObject, serialize, type WireFormat } from './wire-format.ts';

const adapter = openaiChat();

/** OpenAI Chat Completions. Where a body or reply is read as the SDK's type, the wire validator or the model server vouches for it. */
export const openaiChatWire: WireFormat = {
  provider: 'openai-chat',
  path: '/chat/completions',
  findProblems: (body) => validateOpenAiChat(body).map(({ path, message }) => `${path}: ${message}`),

  blocksOf(body) {
    const { tools = [], messages } = asRequest(body);
    return [
      ...tools.map(serialize),
      ...messages.flatMap((message) => {
        const { content, ...rest } = message;
        const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
        return [serialize(rest), ...parts.map((part) => serialize([message.role, part]))];
      }),
    ];
  },

  userTexts: (body) =>
    asRequest(body)
      .messages.filter((message) => message.role === 'user')
      .map(({ content }) =>
        typeof content === 'string' ? [content] : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
      ),

  messagesOf: (body) => adapter.items(asRequest(body)).flatMap((item) => adapter.readItem(item)),

  outputCap(body) {
    const { max_completion_tokens, max_tokens } = asRequest(body);
    return max_completion_tokens ?? max_tokens ?? 0;
  },

  overflow(body, tokens, contextWindow) {
    const completion = this.outputCap(body);
    if (tokens + completion <= contextWindow) return undefined;
    return openaiError(
      `This model's maximum context length is ${contextWindow} tokens. However, you requested ${tokens + completion} tokens ` +
        `(${tokens} in the messages, ${completion} in the completion). Please reduce the length of the messages or completion.`,
      'context_length_exceeded',
    );
  },

  refusal: (message) => openaiError(message, null),

  echoRequest: ({ model, stream, stream_options }, text) => ({
    model,
    stream,
    stream_options,
    messages: [
      { role: 'system', content: echoMark },
      { role: 'user', content: text },
    ],
  }),

  outputOf(reply) {
    const [choice] = asReply(reply).choices;
    const message = choice && ('delta' in choice ? choice.delta : choice.message);
    const calls =
      message?.tool_calls?.map((call) => ('function' in call ? [call.function?.name, call.function?.arguments] : [])) ?? [];
    return [message?.content, ...calls.flat()].filter(Boolean).join(' ');
  },

  setUsage(reply, inputTokens, countOutput) {
    if (!asReply(reply).usage) return;
    const outputTokens = countOutput();
    reply.usage = { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
  },
};

function openaiError(message: string, code: string | null): JsonObject {
  return { error: { message, type: 'invalid_request_error', param: 'messages', code } };
}

function asRequest(body: JsonObject): ChatCompletionCreateParams {
  return body as unknown as ChatCompletionCreateParams;
}

function asReply(reply: JsonObject): ChatCompletion | ChatCompletionChunk {
  return reply as unknown as ChatCompletion | ChatCompletionChunk;
}
