import { fieldsOf, isNothing, isRecord } from '../../adapters/fields.ts';
import { outputCap } from '../../adapters/langchain/model-facts.ts';
import type { LangchainReplyMessage, LangchainRequest } from '../../adapters/langchain.ts';
import { CompactionError } from '../../errors.ts';
import { capModel } from './cap-model.ts';

/**
 * By these LangGraph leaves a call out of what it streams as messages. Events and tokens are told to callbacks, of which the call has
 * none but the model's own; those may know it by its metadata.
 */
const unseen = { callbacks: [], tags: ['nostream', 'langsmith:nostream'], metadata: { lc_source: 'context-compactor' } };

/**
 * Sends a request as the agent would, to its own model with its own tools, and unseen: neither a stream of the agent nor its state knows of
 * it. Middleware that stands closer to the model is passed by.
 */
export async function askModel(request: LangchainRequest, signal: AbortSignal): Promise<LangchainReplyMessage> {
  const { model, tools = [], toolChoice, modelSettings, messages } = request;
  const { bound, options } = unwrap(model);
  // A private call must not stop early, whatever is bound to the model.
  const withTools: unknown = bound.bindTools(tools, { ...options, ...modelSettings, stop: undefined, tool_choice: toolChoice });
  const cap = outputCap(undefined, modelSettings);
  const callable = isRecord(withTools) && cap !== undefined ? capModel(withTools, cap) : withTools;
  if (!isCallable(callable)) throw unusable();
  return callable.invoke([...instructionsOf(request), ...messages], { ...unseen, signal, configurable: configurableOf(request) });
}

interface ToolBinder {
  bindTools(tools: readonly unknown[], options: object): unknown;
}

interface Callable {
  invoke(messages: readonly object[], options: object): Promise<LangchainReplyMessage>;
}

/** The model, and the options that were bound to it (`withConfig`). */
function unwrap(model: unknown): { bound: ToolBinder; options: object } {
  if (isBinder(model)) return { bound: model, options: {} };
  if (!isRecord(model) || !isBinder(model.bound)) throw unusable();
  return { bound: model.bound, options: { ...fieldsOf(model.config), ...fieldsOf(model.kwargs) } };
}

function isBinder(value: unknown): value is ToolBinder {
  return isRecord(value) && typeof value.bindTools === 'function';
}

function isCallable(value: unknown): value is Callable {
  return isRecord(value) && typeof value.invoke === 'function';
}

/** An agent without instructions has a system message that is empty, and does not send it. Older ones have a text alone. */
function instructionsOf({ systemMessage, systemPrompt }: LangchainRequest): object[] {
  if (systemMessage) return isNothing(systemMessage.content) ? [] : [systemMessage];
  return isNothing(systemPrompt) ? [] : [{ role: 'system', content: systemPrompt }];
}

/** Models of `initChatModel` read here which one they are. */
function configurableOf(request: object): unknown {
  return 'runtime' in request ? fieldsOf(request.runtime).configurable : undefined;
}

function unusable(): CompactionError {
  return new CompactionError(
    'invalid-options',
    'Expected the model of the agent to be a chat model with `bindTools`. Where it is another, give `summary.send`.',
    { provider: 'langchain' },
  );
}
