import type { ProviderAdapter, RequestContext } from './adapter.ts';
import { classifyProviderError } from './error-class.ts';
import { isBlank, isNothing, isRecord } from './openai-chat/fields.ts';
import { forkRequest } from './openai-responses/fork-request.ts';
import { isInstruction } from './openai-responses/item-kinds.ts';
import { matchOutputs } from './openai-responses/match-outputs.ts';
import { findPending } from './openai-responses/open-turn.ts';
import { pairItems } from './openai-responses/pair-items.ts';
import { readItem } from './openai-responses/read-item.ts';
import { readItems } from './openai-responses/read-items.ts';
import { isStream, readReply } from './openai-responses/read-reply.ts';
import { readUsage } from './openai-responses/read-usage.ts';
import { repairItem } from './openai-responses/repair-item.ts';
import type { ResponsesItem, ResponsesReply, ResponsesRequest } from './openai-responses/shape.ts';
import { writeMessage } from './openai-responses/write-message.ts';

export type { ResponsesItem, ResponsesReply, ResponsesReplyObject, ResponsesRequest } from './openai-responses/shape.ts';

/**
 * The adapter for the Responses API of OpenAI and of the servers that speak like it. Requests and replies are those of the `openai` SDK,
 * or of a plain `fetch`; streams are its `Stream<ResponseStreamEvent>`, its `ResponseStream` or any other asynchronous iterable of events.
 *
 * Only a history that the request holds can be compacted: requests with `conversation` or `previous_response_id` pass through.
 *
 * @example
 * const create = withAutoCompaction(
 *   (request: OpenAI.Responses.ResponseCreateParamsNonStreaming, { signal }) => client.responses.create(request, { signal }),
 *   { adapter: openaiResponses(), contextWindow: 400_000 },
 * );
 */
export function openaiResponses(): ProviderAdapter<ResponsesRequest, ResponsesItem, ResponsesReply> {
  return {
    name: 'openai-responses',
    family: 'openai',
    items: readItems,
    withItems: (request, items) => (items === request.input ? request : { ...request, input: matchOutputs(items) }),
    withSystem,
    context: readContext,
    readItem,
    writeMessage,
    repairItem,
    pairItems,
    forkForSummary: (request, instruction, { maxTokens }) => forkRequest(request, readItems(request), instruction, maxTokens),
    readReply,
    usage: (reply) => (isStream(reply) || !isRecord(reply) ? undefined : readUsage(reply.usage)),
    classifyError: classifyProviderError,
  };
}

/** Where the instructions are messages at the start, these become one; its role stays theirs. */
function withSystem<R extends ResponsesRequest>(request: R, system: string): R {
  const items = readItems(request);
  const [role] = items.map((item) => (isInstruction(item) ? item.role : undefined));
  if (!role || !isNothing(request.instructions)) return { ...request, instructions: isBlank(system) ? null : system };
  const first = items.findIndex((item) => !isInstruction(item));
  const rest = first === -1 ? [] : items.slice(first);
  return { ...request, input: isBlank(system) ? rest : [{ type: 'message', role, content: system }, ...rest] };
}

function readContext(request: ResponsesRequest): RequestContext {
  const { model, instructions, tools, max_output_tokens: cap, conversation, previous_response_id: previous } = request;
  return {
    model,
    system: instructions ?? undefined,
    tools,
    outputCap: typeof cap === 'number' && cap > 0 ? cap : undefined,
    pending: findPending(readItems(request)),
    serverHeld: isNothing(conversation) ? (isNothing(previous) ? undefined : 'previous_response_id') : 'conversation',
  };
}
