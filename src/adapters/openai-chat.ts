import type { ProviderAdapter, RequestContext } from './adapter.ts';
import { checkItems, type MessageRules } from './check-items.ts';
import { classifyProviderError } from './error-class.ts';
import { isBlank, isNothing, isRecord, listOf } from './fields.ts';
import { dropLeading } from './lists.ts';
import { forkRequest } from './openai-chat/fork-request.ts';
import { chatRoles, readMessage } from './openai-chat/read-message.ts';
import { readReply } from './openai-chat/read-reply.ts';
import { readUsage } from './openai-chat/read-usage.ts';
import { repairMessage } from './openai-chat/repair-message.ts';
import type { ChatMessage, ChatReply, ChatRequest } from './openai-chat/shape.ts';
import { withoutReasoning } from './openai-chat/without-reasoning.ts';
import { writeMessage } from './openai-chat/write-message.ts';
import { openaiEfforts } from './openai-efforts.ts';
import { isStream } from './read-stream.ts';

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
    endpoint: /\/chat\/completions\/?$/,
    efforts: openaiEfforts,
    uniqueCallIds: 'message',
    items: readItems,
    withItems: (request, items) => (items === request.messages ? request : { ...request, messages: [...items] }),
    withSystem: (request, system) => ({ ...request, messages: replaceSystem(request.messages, system) }),
    context: readContext,
    readItem: readMessage,
    writeMessage,
    repairItem: repairMessage,
    withoutReasoning,
    forkForSummary: forkRequest,
    readReply,
    usage: (reply) => (isStream(reply) || !isRecord(reply) ? undefined : readUsage(reply.usage)),
    classifyError: classifyProviderError,
  };
}

const rules: MessageRules = {
  provider: name,
  field: 'messages',
  roles: [...chatRoles.keys()],
};

function readItems(request: ChatRequest): readonly ChatMessage[] {
  checkItems(isRecord(request) ? request.messages : undefined, rules);
  return request.messages;
}

/** The leading system messages become one; its role stays theirs, because some models take `developer` in place of `system`. */
function replaceSystem(messages: readonly ChatMessage[], system: string): readonly ChatMessage[] {
  const rest = dropLeading(messages, ({ role }) => role === 'system' || role === 'developer');
  const role = rest.length < messages.length ? messages[0]?.role : undefined;
  return isBlank(system) ? rest : [{ role: role ?? 'system', content: system }, ...rest];
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
