import type { ProviderAdapter } from './adapter.ts';
import { classifyProviderError } from './error-class.ts';
import { isBlank, isRecord } from './fields.ts';
import { checkClasses } from './langchain/check-classes.ts';
import { forkRequest } from './langchain/fork-request.ts';
import { withMessages } from './langchain/join-system.ts';
import { roleOf } from './langchain/message-role.ts';
import { readContext } from './langchain/read-context.ts';
import { readItems } from './langchain/read-items.ts';
import { readMessage } from './langchain/read-message.ts';
import { readReply } from './langchain/read-reply.ts';
import { readUsage } from './langchain/read-usage.ts';
import { repairMessage } from './langchain/repair-message.ts';
import type { LangchainMessage, LangchainMessageClasses, LangchainReply, LangchainRequest } from './langchain/shape.ts';
import { withoutReasoning } from './langchain/without-reasoning.ts';
import { createWriter } from './langchain/write-message.ts';
import { dropLeading } from './lists.ts';
import { isStream } from './read-stream.ts';

export type {
  LangchainBlock,
  LangchainContent,
  LangchainMessage,
  LangchainMessageClasses,
  LangchainReply,
  LangchainReplyMessage,
  LangchainRequest,
  LangchainToolCall,
} from './langchain/shape.ts';

/**
 * The adapter for messages of LangChain, whatever package stands behind the model. `createAgent` runs tools inside its call, so that it is
 * joined below that, by `langchainMiddleware`; this is for loops of one's own. New messages are made of the classes given: those of the
 * application's own copy of LangChain.
 *
 * @throws CompactionError `invalid-options`
 * @example
 * const model = new ChatOpenAI({ model: 'gpt-5' }).bindTools(tools);
 * const call = withAutoCompaction(
 *   ({ messages }: { messages: BaseMessage[] }, { signal }) => model.invoke(messages, { signal }),
 *   { adapter: langchainMessages({ HumanMessage, AIMessage, ToolMessage, SystemMessage }), contextWindow: 400_000 },
 * );
 */
export function langchainMessages(
  classes: LangchainMessageClasses,
): ProviderAdapter<LangchainRequest, LangchainMessage, LangchainReply> {
  checkClasses(classes);
  const writer = createWriter(classes);
  return {
    name: 'langchain',
    // Which provider a model belongs to is not in its messages.
    family: 'generic',
    // What one package takes another throws on: the strictest of them is Anthropic's.
    startsWithUser: true,
    uniqueCallIds: 'request',
    items: readItems,
    withItems(request, items) {
      if (items === request.messages) return request;
      const known = new Set(request.messages);
      const own = items.map((item) => (known.has(item) ? item : writer.handOut(item)));
      return withMessages(request, own, classes);
    },
    withSystem: (request, system) => replaceSystem(request, system, classes),
    context: readContext,
    readItem: readMessage,
    writeMessage: writer.write,
    repairItem: repairMessage,
    withoutReasoning,
    forkForSummary(request, instruction, { maxTokens }) {
      const question = writer.write({ role: 'user', parts: [{ type: 'text', text: instruction }] });
      return forkRequest(request, question, maxTokens);
    },
    readReply,
    usage: (reply) => (isStream(reply) || !isRecord(reply) ? undefined : readUsage(reply.usage_metadata)),
    classifyError: classifyProviderError,
  };
}

/** Beside the messages where it stands there, or in front of them. An agent refuses to have both of its forms changed. */
function replaceSystem<R extends LangchainRequest>(request: R, system: string, { SystemMessage }: LangchainMessageClasses): R {
  const rest = dropLeading(request.messages, (message) => roleOf(message) === 'system');
  if (isRecord(request.systemMessage))
    return { ...request, messages: rest, systemMessage: new SystemMessage({ content: system }) };
  if (typeof request.systemPrompt === 'string') return { ...request, messages: rest, systemPrompt: system };
  return { ...request, messages: isBlank(system) ? rest : [new SystemMessage({ content: system }), ...rest] };
}
