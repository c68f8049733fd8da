import { CompactionError } from '../errors.ts';
import type { ProviderAdapter, RequestContext } from './adapter.ts';
import { classifyProviderError } from './error-class.ts';
import { isBlank, isNothing, isRecord, listOf } from './openai-chat/fields.ts';
import { forkRequest } from './openai-chat/fork-request.ts';
import { readMessage } from './openai-chat/read-message.ts';
import { isStream, readReply } from './openai-chat/read-reply.ts';
import { readUsage } from './openai-chat/read-usage.ts';
import { repairMessage } from './openai-chat/repair-message.ts';
import type { ChatMessage, ChatReply, ChatRequest } from './openai-chat/shape.ts';
import { writeMessage } from './openai-chat/write-message.ts';

export type { ChatCompletionReply, ChatMessage, ChatReply, ChatRequest } from './openai-chat/shape.ts';

const name = 'openai-chat';

/**
 * The adapter for Chat Completions of OpenAI and of the servers that speak like it. Requests and replies are those of the `openai`
 * SDK, or of a plain `fetch`; streams are its `Stream<ChatCompletionChunk>` or any other asynchronous iterable of chunks.
 *
 * @example
 * const compactor = createCompactor({ adapter: openaiChat(), contextWindow: 128_000, send });
 */
export function openaiChat(): ProviderAdapter<ChatRequest, ChatMessage, ChatReply> {
  return {
    name,
    family: 'openai',
    items: readItems,
    withItems: (request, items) => (items === request.messages ? request : { ...request, messages: [...items] }),
    withSystem: (request, system) => ({ ...request, messages: replaceSystem(request.messages, system) }),
    context: readContext,
    readItem: readMessage,
    writeMessage,
    repairItem: repairMessage,
    forkForSummary: (request, instruction, { maxTokens }) => forkRequest(request, instruction, maxTokens),
    readReply,
    usage: (reply) => (isStream(reply) || !isRecord(reply) ? undefined : readUsage(reply.usage)),
    classifyError: classifyProviderError,
  };
}

function readItems(request: ChatRequest): readonly ChatMessage[] {
  const messages: unknown = isRecord(request) ? request.messages : undefined;
  if (!Array.isArray(messages)) throw invalid(`Expected \`messages\` to be an array, got ${describe(messages)}.`);
  messages.forEach((message: unknown, index) => {
    if (!isRecord(message)) throw invalid(`Expected \`messages[${index}]\` to be an object, got ${describe(message)}.`);
    if (typeof message.role !== 'string' || message.role === '')
      throw invalid(`Expected \`messages[${index}].role\` to be a role, got ${describe(message.role)}.`);
  });
  return request.messages;
}

/** The leading system messages become one; its role stays theirs, because some models take `developer` in place of `system`. */
function replaceSystem(messages: readonly ChatMessage[], system: string): readonly ChatMessage[] {
  const first = messages.findIndex((message) => message.role !== 'system' && message.role !== 'developer');
  const rest = first === -1 ? [] : messages.slice(first);
  const role = first === 0 ? 'system' : (messages[0]?.role ?? 'system');
  return isBlank(system) ? rest : [{ role, content: system }, ...rest];
}

/** Instructions are messages here, and nothing is held by the server or pending between two requests. */
function readContext(request: ChatRequest): RequestContext {
  const { tools, functions } = request;
  const cap = request.max_completion_tokens ?? request.max_tokens;
  return {
    model: request.model,
    tools: isNothing(functions) ? (tools ?? undefined) : isNothing(tools) ? functions : [...listOf(tools), ...listOf(functions)],
    outputCap: typeof cap === 'number' && cap > 0 ? cap : undefined,
  };
}

function invalid(message: string): CompactionError {
  return new CompactionError('invalid-request', message, { provider: name });
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  return Array.isArray(value) ? 'an array' : typeof value;
}
