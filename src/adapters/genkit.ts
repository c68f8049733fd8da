import type { ProviderAdapter } from './adapter.ts';
import { isBlank, isRecord } from './fields.ts';
import { classifyError } from './genkit/classify-error.ts';
import { forkRequest } from './genkit/fork-request.ts';
import { readContext } from './genkit/read-context.ts';
import { readItems } from './genkit/read-items.ts';
import { partsOf, readMessage } from './genkit/read-message.ts';
import { readReply } from './genkit/read-reply.ts';
import { readUsage } from './genkit/read-usage.ts';
import { plainMessage, repairMessage } from './genkit/repair-message.ts';
import type { GenkitMessage, GenkitReply, GenkitRequest } from './genkit/shape.ts';
import { withoutReasoning } from './genkit/without-reasoning.ts';
import { writeMessage } from './genkit/write-message.ts';
import { liftSystem } from './lift-system.ts';
import { dropLeading } from './lists.ts';

export type { GenkitMessage, GenkitReply, GenkitRequest } from './genkit/shape.ts';

/**
 * The adapter for Genkit's models: their `GenerateRequest` and `GenerateResponseData`, whatever plugin stands behind them. `ai.generate`
 * runs tools inside its call, so that it is joined below that, by `genkitMiddleware`; this is for what calls a model itself.
 *
 * @example
 * const call = withAutoCompaction(
 *   (request: GenerateRequest, { signal }) => model(request, { abortSignal: signal }),
 *   { adapter: genkitModel(), contextWindow: 1_000_000 },
 * );
 */
export function genkitModel(): ProviderAdapter<GenkitRequest, GenkitMessage, GenkitReply> {
  return {
    name: 'genkit',
    // Which provider a model belongs to is not in its request.
    family: 'generic',
    // Gemini and Claude refuse what OpenAI takes.
    startsWithUser: true,
    uniqueCallIds: 'message',
    items: readItems,
    withItems: (request, items) =>
      items === request.messages
        ? request
        : { ...request, messages: [...liftSystem(items, request.messages, isSystem, joinSystem)] },
    withSystem: (request, system) => ({ ...request, messages: replaceSystem(request.messages, system) }),
    context: readContext,
    readItem: readMessage,
    writeMessage,
    repairItem: repairMessage,
    withoutReasoning,
    forkForSummary: (request, instruction, { maxTokens }) => forkRequest(request, instruction, maxTokens),
    readReply,
    usage: readUsage,
    classifyError,
  };
}

function isSystem({ role }: GenkitMessage): boolean {
  return role === 'system';
}

function joinSystem(front: GenkitMessage | undefined, late: readonly GenkitMessage[]): GenkitMessage[] {
  const parts = (front ? [front, ...late] : late).flatMap(partsOf).filter(isRecord);
  return [{ ...(front && plainMessage(front)), role: 'system', content: parts }];
}

/** Plugins take one system message, in front. */
function replaceSystem(messages: readonly GenkitMessage[], system: string): readonly GenkitMessage[] {
  const rest = dropLeading(messages, isSystem);
  return isBlank(system) ? rest : [{ role: 'system', content: [{ text: system }] }, ...rest];
}
