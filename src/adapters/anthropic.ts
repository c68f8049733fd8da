import type { ProviderAdapter, RequestContext } from './adapter.ts';
import { arrangeTurns } from './anthropic/arrange-turns.ts';
import { blocksOf, typeOf } from './anthropic/blocks.ts';
import { dropLoneHalves } from './anthropic/drop-lone-halves.ts';
import { forkForSummary } from './anthropic/fork.ts';
import { letReasoningDrop } from './anthropic/let-reasoning-drop.ts';
import { readItem } from './anthropic/read-item.ts';
import { readItems } from './anthropic/read-items.ts';
import { readReply } from './anthropic/read-reply.ts';
import { repairItem } from './anthropic/repair-item.ts';
import type { AnthropicMessage, AnthropicReply, AnthropicRequest } from './anthropic/shape.ts';
import { keepTurnScopes } from './anthropic/turn-scopes.ts';
import { withoutReasoning } from './anthropic/without-reasoning.ts';
import { writeMessage } from './anthropic/write-message.ts';
import { readAnthropicUsage } from './anthropic-usage.ts';
import { claudeEfforts } from './claude-efforts.ts';
import { classifyProviderError } from './error-class.ts';
import { isStream } from './read-stream.ts';

export type {
  AnthropicBlock,
  AnthropicMessage,
  AnthropicReply,
  AnthropicReplyMessage,
  AnthropicRequest,
} from './anthropic/shape.ts';

/**
 * The Anthropic Messages shape, as `client.messages.create`, `client.beta.messages.create` and their streams take and give it.
 *
 * @example
 * const create = withAutoCompaction(
 *   (request: Anthropic.MessageCreateParamsNonStreaming, { signal }) => client.messages.create(request, { signal }),
 *   { adapter: anthropicMessages(), contextWindow: 200_000 },
 * );
 */
export function anthropicMessages(): ProviderAdapter<AnthropicRequest, AnthropicMessage, AnthropicReply> {
  return {
    name: 'anthropic',
    family: 'anthropic',
    // Google has the model in the path, and `count-tokens` in its place for counting.
    endpoint: /\/messages\/?$|\/publishers\/anthropic\/models\/(?!count-tokens:)[^/]+:(?:rawPredict|streamRawPredict)$/,
    startsWithUser: true,
    mayBegin: (item) => blocksOf(item).some((block) => typeOf(block) === 'compaction'),
    efforts: claudeEfforts,
    uniqueCallIds: 'request',
    items: readItems,
    // The copy differs from R in the order and number of its messages alone.
    withItems: <R extends AnthropicRequest>(request: R, items: readonly AnthropicMessage[]): R => ({
      ...request,
      messages: arrangeNewTurns(request, items),
    }),
    withSystem: <R extends AnthropicRequest>(request: R, system: string): R => ({ ...request, system }),
    context: readContext,
    readItem,
    writeMessage,
    repairItem,
    withoutReasoning,
    loopNeedsReasoning: ({ thinking }) => thinking?.type === 'enabled', // models that think adaptively demand nothing
    letReasoningDrop,
    dropLoneHalves,
    forkForSummary,
    readReply,
    usage: (reply) => (isStream(reply) ? undefined : readAnthropicUsage(reply?.usage)),
    classifyError: classifyProviderError,
  };
}

/** Turns that the request had already stay as they are, however odd: only what comes behind their last complete turn is arranged. */
function arrangeNewTurns(request: AnthropicRequest, items: readonly AnthropicMessage[]): AnthropicMessage[] {
  const known: readonly AnthropicMessage[] | null | undefined = request.messages;
  let same = 0;
  while (same < items.length && items[same] === known?.[same]) same++;
  if (same === items.length) return [...items];
  const start = items.slice(0, same).findLastIndex(({ role }) => role === 'assistant') + 1;
  return [
    ...items.slice(0, start),
    ...arrangeTurns([...items.slice(start, same), ...keepTurnScopes(items.slice(same), request)]),
  ];
}

function readContext(request: AnthropicRequest): RequestContext {
  const { model, system, tools, max_tokens, thread, compaction } = request;
  const last = readItems(request).findLast(({ role }) => role !== 'system');
  return {
    model,
    system: system ?? undefined,
    tools: tools ?? undefined,
    outputCap: typeof max_tokens === 'number' && max_tokens > 0 ? max_tokens : undefined,
    // A prefill, or a paused turn that must go back unmodified: a request does not tell which.
    pending: compaction ? 'compaction' : last?.role === 'assistant' ? 'assistant-last' : undefined,
    serverHeld: thread ? 'thread' : undefined,
  };
}
