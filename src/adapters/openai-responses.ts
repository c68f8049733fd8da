import type { ProviderAdapter, RequestContext } from './adapter.ts';
import { classifyProviderError } from './error-class.ts';
import { isBlank, isNothing, isRecord } from './fields.ts';
import { dropLeading } from './lists.ts';
import { openaiEfforts } from './openai-efforts.ts';
import { forkRequest } from './openai-responses/fork-request.ts';
import { heldBefore, heldItem, withHeldItems } from './openai-responses/held-item.ts';
import { isInstruction, isReasoning } from './openai-responses/item-kinds.ts';
import { matchOutputs } from './openai-responses/match-outputs.ts';
import { findPending } from './openai-responses/open-turn.ts';
import { pairItems } from './openai-responses/pair-items.ts';
import { readItem } from './openai-responses/read-item.ts';
import { readInput, readItems } from './openai-responses/read-items.ts';
import { readReply } from './openai-responses/read-reply.ts';
import { readUsage } from './openai-responses/read-usage.ts';
import { repairItem } from './openai-responses/repair-item.ts';
import type { ResponsesItem, ResponsesReply, ResponsesRequest } from './openai-responses/shape.ts';
import { untieItems } from './openai-responses/untie-items.ts';
import { writeMessage } from './openai-responses/write-message.ts';
import { isStream } from './read-stream.ts';

export type { ResponsesItem, ResponsesReply, ResponsesReplyObject, ResponsesRequest } from './openai-responses/shape.ts';

/**
 * The adapter for the Responses API of OpenAI and of the servers that speak like it. Requests and replies are those of the `openai` SDK,
 * or of a plain `fetch`; streams are its `Stream<ResponseStreamEvent>`, its `ResponseStream` or any other asynchronous iterable of events.
 *
 * A history that the server holds behind `previous_response_id` can be compacted where the library has seen all of it, and no system text
 * in it: such a request then goes out whole, and the conversation goes on from its reply. Requests with `conversation` pass through.
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
    endpoint: /\/responses\/?$/,
    efforts: openaiEfforts,
    items: readItems,
    withItems: (request, items) =>
      items === request.input ? request : withHeldItems(request, matchOutputs(untieItems(items, readInput(request)))),
    withSystem,
    context: readContext,
    readItem,
    writeMessage,
    repairItem,
    // What it led to is untied by `withItems`.
    withoutReasoning: (item) => (isReasoning(item) ? undefined : item),
    pairItems,
    forkForSummary: (request, instruction, options) =>
      forkRequest(request, readInput(request), instruction.toWellFormed(), options),
    readReply,
    heldItem,
    usage: (reply) => (isStream(reply) || !isRecord(reply) ? undefined : readUsage(reply)),
    classifyError: classifyProviderError,
  };
}

/** Where the instructions are messages at the start, these become one; its role stays theirs. */
function withSystem<R extends ResponsesRequest>(request: R, system: string): R {
  const items = readInput(request);
  const [role] = items.map((item) => (isInstruction(item) ? item.role : undefined));
  if (!role || !isNothing(request.instructions)) return { ...request, instructions: isBlank(system) ? null : system };
  const rest = dropLeading(items, isInstruction);
  return { ...request, input: isBlank(system) ? rest : [{ type: 'message', role, content: system }, ...rest] };
}

function readContext(request: ResponsesRequest): RequestContext {
  const { model, instructions, tools, max_output_tokens: cap } = request;
  const held = heldBefore(request);
  return {
    model,
    system: instructions ?? undefined,
    tools: tools ?? undefined,
    outputCap: typeof cap === 'number' && cap > 0 ? cap : undefined,
    pending: findPending(readInput(request)),
    serverHeld: held?.type === 'conversation' ? 'conversation' : undefined,
    heldBefore: held?.type === 'previous_response' ? 'previous_response_id' : undefined,
  };
}
