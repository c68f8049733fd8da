import type { ProviderAdapter, RequestContext } from './adapter.ts';
import { arrangeItems } from './ai-sdk/arrange-items.ts';
import { findPending } from './ai-sdk/find-pending.ts';
import { forkRequest } from './ai-sdk/fork-request.ts';
import { readOutputCap, thinkingByBudget } from './ai-sdk/output-cap.ts';
import { optionOf } from './ai-sdk/provider-options.ts';
import { readItem } from './ai-sdk/read-item.ts';
import { readItems } from './ai-sdk/read-items.ts';
import { isStream, readReply } from './ai-sdk/read-reply.ts';
import { readUsage } from './ai-sdk/read-usage.ts';
import { repairItem } from './ai-sdk/repair-item.ts';
import type { AiSdkMessage, AiSdkReply, AiSdkRequest } from './ai-sdk/shape.ts';
import { withoutReasoning } from './ai-sdk/without-reasoning.ts';
import { writeMessage } from './ai-sdk/write-message.ts';
import { classifyProviderError } from './error-class.ts';
import { isBlank, isRecord } from './fields.ts';
import { dropLeading } from './lists.ts';

export type {
  AiSdkGenerateReply,
  AiSdkMessage,
  AiSdkModelName,
  AiSdkPart,
  AiSdkReply,
  AiSdkRequest,
  AiSdkStreamReply,
} from './ai-sdk/shape.ts';

/**
 * The adapter for calls of a language model of the AI SDK (`ai` 6): requests are its `LanguageModelV3CallOptions`, replies what
 * `doGenerate`
 * and `doStream` return. `generateText` and its like execute tools inside their call and are joined by `aiSdkMiddleware`, which is built
 * on this.
 *
 * Only a history that the prompt holds can be compacted: calls with OpenAI's `conversation` or `previousResponseId` pass through.
 *
 * @example
 * const model = openai('gpt-5');
 * const call = withAutoCompaction(
 *   (request: LanguageModelV3CallOptions, { signal }) => model.doGenerate({ ...request, abortSignal: signal }),
 *   { adapter: aiSdkModel(), contextWindow: 400_000 },
 * );
 */
export function aiSdkModel(): ProviderAdapter<AiSdkRequest, AiSdkMessage, AiSdkReply> {
  return {
    name: 'ai-sdk',
    family: 'generic',
    uniqueCallIds: 'message',
    items: readItems,
    withItems: arrangeItems,
    withSystem: (request, system) => ({ ...request, prompt: replaceSystem(readItems(request), system) }),
    context: readContext,
    readItem,
    writeMessage,
    repairItem,
    withoutReasoning,
    loopNeedsReasoning: ({ providerOptions }) => thinkingByBudget(providerOptions) !== undefined,
    forkForSummary: (request, instruction, { maxTokens }) => forkRequest(request, instruction, maxTokens),
    readReply,
    usage: (reply) => (isStream(reply) || !isRecord(reply) ? undefined : readUsage(reply.usage)),
    classifyError: classifyProviderError,
  };
}

/** The leading system messages become one; what the first has beside its text stays, a cache marker for instance. */
function replaceSystem(prompt: readonly AiSdkMessage[], system: string): readonly AiSdkMessage[] {
  const rest = dropLeading(prompt, ({ role }) => role === 'system');
  return isBlank(system) ? rest : [{ ...(rest.length < prompt.length && prompt[0]), role: 'system', content: system }, ...rest];
}

function readContext(request: AiSdkRequest): RequestContext {
  const { model, tools, providerOptions } = request;
  const held = ['conversation', 'previousResponseId'].find((key) => optionOf(providerOptions, key) !== undefined);
  return {
    model: model?.modelId,
    tools,
    outputCap: readOutputCap(request),
    pending: findPending(readItems(request)),
    serverHeld: held,
  };
}
