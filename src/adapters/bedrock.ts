import type { ProviderAdapter, RequestContext } from './adapter.ts';
import { arrangeNewTurns } from './bedrock/arrange-turns.ts';
import { declareTools } from './bedrock/declare-tools.ts';
import { forkRequest, thinkingByBudget } from './bedrock/fork-request.ts';
import { readItem } from './bedrock/read-item.ts';
import { readItems } from './bedrock/read-items.ts';
import { readReply, streamOf } from './bedrock/read-reply.ts';
import { readUsage } from './bedrock/read-usage.ts';
import { repairItem } from './bedrock/repair-item.ts';
import { replaceSystem } from './bedrock/replace-system.ts';
import { inputOf, withInput } from './bedrock/request-input.ts';
import type { BedrockMessage, BedrockReply, BedrockRequest } from './bedrock/shape.ts';
import { withoutReasoning } from './bedrock/without-reasoning.ts';
import { writeMessage } from './bedrock/write-message.ts';
import { claudeEfforts } from './claude-efforts.ts';
import { classifyProviderError } from './error-class.ts';
import { isRecord } from './fields.ts';
import { isSameList } from './lists.ts';

export type {
  BedrockBlock,
  BedrockCommand,
  BedrockInput,
  BedrockMessage,
  BedrockReply,
  BedrockReplyObject,
  BedrockReplyStream,
  BedrockRequest,
} from './bedrock/shape.ts';

/**
 * The Converse shape of Amazon Bedrock, as `ConverseCommand` and `ConverseStreamCommand` of `@aws-sdk/client-bedrock-runtime` take and
 * give it. A request is the input of a command, or the command itself.
 *
 * User and assistant alternate here. Where a replacement and a message of the user would stand in a row, they go out as one message; a
 * host that puts a replacement into its own history does the same, or lets the assistant answer in between.
 *
 * @example
 * const converse = withAutoCompaction(
 *   (input: ConverseCommandInput, { signal }) => client.send(new ConverseCommand(input), { abortSignal: signal }),
 *   { adapter: bedrockConverse(), contextWindow: 200_000 },
 * );
 */
export function bedrockConverse(): ProviderAdapter<BedrockRequest, BedrockMessage, BedrockReply> {
  return {
    name: 'bedrock',
    // Where the id tells nothing, as that of an inference profile: no tokenizer gives more tokens than Claude's.
    family: 'anthropic',
    startsWithUser: true,
    efforts: claudeEfforts,
    uniqueCallIds: 'request',
    items: readItems,
    withItems: replaceItems,
    withSystem: (request, system) => withInput(request, replaceSystem(inputOf(request), system)),
    context: readContext,
    readItem,
    writeMessage,
    repairItem,
    withoutReasoning,
    loopNeedsReasoning: (request) => thinkingByBudget(inputOf(request).additionalModelRequestFields) !== undefined,
    forkForSummary: forkRequest,
    readReply,
    usage: (reply) => (streamOf(reply) || !isRecord(reply) ? undefined : readUsage(reply.usage)),
    classifyError: classifyProviderError,
  };
}

function replaceItems<R extends BedrockRequest>(request: R, items: readonly BedrockMessage[]): R {
  const input = inputOf(request);
  const known = input.messages ?? [];
  const messages = arrangeNewTurns(known, items);
  const toolConfig = isSameList(messages, known) ? undefined : declareTools(input, messages);
  return withInput(request, { ...input, messages, ...(toolConfig && { toolConfig }) });
}

function readContext(request: BedrockRequest): RequestContext {
  const { modelId, system, toolConfig, inferenceConfig } = inputOf(request);
  const last = readItems(request).findLast(({ role }) => role !== 'system');
  return {
    model: modelId,
    system: system ?? undefined,
    tools: toolConfig?.tools ?? undefined,
    outputCap: inferenceConfig?.maxTokens,
    // A prefill: most models refuse it, and nothing may stand behind it.
    pending: last?.role === 'assistant' ? 'assistant-last' : undefined,
  };
}
