/**
 * Compaction for LangChain: a middleware for `createAgent`, and an adapter for loops around `model.invoke`.
 *
 * @packageDocumentation
 */
import { isRecord } from '../adapters/fields.ts';
import {
  type LangchainMessage,
  type LangchainMessageClasses,
  type LangchainReply,
  type LangchainRequest,
  langchainMessages,
} from '../adapters/langchain.ts';
import { type Compactor, createCompactor } from '../compactor.ts';
import type { Send, SharedOptions } from '../options.ts';
import { sendChecked } from '../send-checked.ts';
import { nameSafely } from './conversation-name.ts';
import { askModel } from './langchain/ask-model.ts';
import { refuseOptions } from './refuse-options.ts';
import { refuseToSend } from './refuse-to-send.ts';

export {
  type LangchainBlock,
  type LangchainContent,
  type LangchainMessage,
  type LangchainMessageClasses,
  type LangchainReply,
  type LangchainReplyMessage,
  type LangchainRequest,
  type LangchainToolCall,
  langchainMessages,
} from '../adapters/langchain.ts';

/** What the middleware reads of an agent's `ModelRequest`. */
export interface LangchainModelRequest extends LangchainRequest {
  readonly runtime?: { readonly signal?: AbortSignal | undefined; readonly configurable?: object | undefined } | undefined;
}

export interface LangchainMiddlewareOptions<Request extends LangchainModelRequest = LangchainModelRequest>
  extends Omit<SharedOptions<LangchainRequest, LangchainMessage, LangchainReply, Request, LangchainReply>, 'adapter'> {
  /** What new messages are made of: the classes of the application's own copy of LangChain. */
  messageClasses: LangchainMessageClasses;
  /**
   * Names the conversation that a request belongs to; undefined: it is found by its content. Default: the `thread_id` of the run, but for
   * agents inside of others, which share the thread of these.
   */
  conversation?: ((request: Request) => string | undefined) | undefined;
}

/** An `AgentMiddleware` of LangChain. */
export interface LangchainMiddleware<Request extends LangchainModelRequest = LangchainModelRequest> {
  readonly name: string;
  // Without state, context, tools and transformers of its own: the types of the agent stay as they are.
  readonly stateSchema?: undefined;
  readonly contextSchema?: undefined;
  readonly tools?: readonly [];
  readonly streamTransformers?: readonly [];
  wrapModelCall: <R extends LangchainModelRequest, P extends object>(
    request: R,
    handler: (request: R) => P | PromiseLike<P>,
  ) => Promise<P>;
  /**
   * For `plan`, `estimate`, `snapshot` and `restore`, and for compacting by hand: this asks `summary.send` for the summary, because it
   * happens outside of any call.
   */
  readonly compactor: Compactor<LangchainRequest, LangchainMessage, Request, LangchainReply>;
}

/**
 * Keeps the calls of an agent inside the window, each step of its tool loop too. Every request to the model is checked, compacted where
 * that
 * is due, and sent once. The agent's state keeps all of its messages, and so does a checkpointer; only what the model is sent is compacted.
 *
 * The summary is asked of the agent's own model with its own tools. It reaches no stream of the agent, in no mode, and no other middleware.
 * Give this middleware the last place in the list: then it sees what the model gets. One serves any number of agents and conversations.
 *
 * @throws CompactionError `invalid-options`
 * @example
 * const agent = createAgent({
 *   model: 'openai:gpt-5',
 *   tools,
 *   middleware: [
 *     langchainMiddleware({ messageClasses: { HumanMessage, AIMessage, ToolMessage, SystemMessage }, contextWindow: 400_000 }),
 *   ],
 * });
 */
export function langchainMiddleware<Request extends LangchainModelRequest = LangchainModelRequest>(
  options: LangchainMiddlewareOptions<Request>,
): LangchainMiddleware<Request> {
  refuseOptions(options, ['adapter', 'send']);
  const { messageClasses, conversation = threadOf, ...shared } = options;
  const nameOf = nameSafely(conversation, options.onEvent);
  const adapter = langchainMessages(messageClasses);
  const compactor = createCompactor<LangchainRequest, LangchainMessage, LangchainReply, Request, LangchainReply>({
    ...shared,
    adapter,
    send: refuseToSend,
  });

  async function wrapModelCall<R extends LangchainModelRequest, P extends object>(
    request: R,
    handler: (request: R) => P | PromiseLike<P>,
  ): Promise<P> {
    const own = request as LangchainModelRequest as Request; // an agent calls all of its models with one type, which the options know
    const sendTurn = async (prepared: LangchainModelRequest): Promise<LangchainReply> => {
      const reply: object = await handler(prepared as R); // made of this very request: it has its type
      return reply as LangchainReply; // what a model answers
    };
    const send: Send<Request, LangchainReply> = async (prepared, { purpose, signal }) =>
      purpose === 'summary' ? askModel(prepared, signal) : sendTurn(prepared);
    const call = { compactor, readUsage: (reply: LangchainReply) => adapter.usage(answerIn(reply)) };
    const reply: object = await sendChecked(call, own, send, {
      send,
      signal: request.runtime?.signal,
      conversation: nameOf(own),
    });
    return reply as P; // the handler's, untouched
  }
  return { name: 'ContextCompactor', wrapModelCall, compactor };
}

/** An agent hands on a structured response with the messages that led to it: the first is the model's. */
function answerIn(reply: LangchainReply): LangchainReply {
  const messages: unknown = isRecord(reply) && 'structuredResponse' in reply ? reply.messages : undefined;
  return Array.isArray(messages) ? messages[0] : reply;
}

function threadOf({ runtime }: LangchainModelRequest): string | undefined {
  const { thread_id: thread, checkpoint_ns: place } = isRecord(runtime?.configurable) ? runtime.configurable : {};
  const isNested = typeof place === 'string' && place.includes('|');
  return typeof thread === 'string' && thread !== '' && !isNested ? thread : undefined;
}
