import type { ForkOptions, ProviderAdapter, SummaryFork } from './adapter.ts';
import type { Fields } from './fields.ts';
import { moveInstructions } from './openai-codex/move-instructions.ts';
import { forkRequest } from './openai-responses/fork-request.ts';
import { isInstruction } from './openai-responses/item-kinds.ts';
import { readInput, readItems } from './openai-responses/read-items.ts';
import { openaiResponses, type ResponsesItem, type ResponsesReply, type ResponsesRequest } from './openai-responses.ts';

export type { ResponsesItem, ResponsesReply, ResponsesReplyObject, ResponsesRequest } from './openai-responses.ts';

const name = 'openai-codex';

/**
 * The adapter for the backend of Codex, `…/backend-api/codex/responses`: the Responses API, but for streams alone, nothing stored, system
 * text in `instructions` only, and no output cap. Requests and replies are those of the `openai` SDK with that `baseURL`, or of a plain
 * `fetch`.
 *
 * In a request that is rebuilt, system and developer messages move into `instructions`. How long a summary may be is said in words.
 *
 * @example
 * const create = withAutoCompaction(
 *   (request: OpenAI.Responses.ResponseCreateParamsStreaming, { signal }) => client.responses.create(request, { signal }),
 *   { adapter: openaiCodex(), contextWindow: 272_000 },
 * );
 */
export function openaiCodex(): ProviderAdapter<ResponsesRequest, ResponsesItem, ResponsesReply> {
  const { heldItem: _stored, ...responses } = openaiResponses(); // nothing is
  return {
    ...responses,
    name,
    endpoint: /\/codex\/responses\/?$/,
    items: (request) => readItems(request, name),
    withItems(request, items) {
      const rebuilt = responses.withItems(request, items);
      return rebuilt === request ? request : moveInstructions(rebuilt, readInput(rebuilt));
    },
    withSystem,
    forkForSummary,
  };
}

/** Instructions at the start of the conversation are replaced, too. */
function withSystem<R extends ResponsesRequest>(request: R, system: string): R {
  const items = readInput(request);
  const first = items.findIndex((item) => !isInstruction(item));
  return { ...request, instructions: system, ...(first > 0 && { input: items.slice(first) }) };
}

function forkForSummary<R extends ResponsesRequest>(request: R, instruction: string, options: ForkOptions): SummaryFork<R> {
  const content = [instruction.toWellFormed(), limitLength(options.maxTokens)].map((text) => ({ type: 'input_text', text }));
  const fork = forkRequest(request, readInput(request), content, options);
  // The bound names only some of the provider's fields; the copy is ours to change.
  const fields = fork.request as Fields;
  delete fields.max_output_tokens; // refused
  fields.stream = true; // demanded
  return fork;
}

/** In words: a model does not see tokens, and a token is about three quarters of a word. */
function limitLength(maxTokens: number): string {
  return `Write at most ${Math.max(1, Math.floor(maxTokens * 0.75))} words.`;
}
