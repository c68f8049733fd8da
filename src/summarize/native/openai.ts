import { type Fields, fieldsOf, isBlank, isNothing, isRecord, stringOf } from '../../adapters/fields.ts';
import { kindOf } from '../../adapters/openai-responses/item-kinds.ts';
import type { ResponsesItem, ResponsesReply, ResponsesRequest } from '../../adapters/openai-responses/shape.ts';
import { CompactionError } from '../../errors.ts';
import { requireOwnHistory } from '../own-history.ts';
import type { NativeSummary, SummaryTask } from '../summarizer.ts';
import { askProvider } from './ask-provider.ts';
import { boundInput } from './bound-input.ts';

/** The body of `POST /responses/compact`: the SDK's `ResponseCompactParams` fit. */
export interface ResponsesCompactBody {
  readonly model?: string | null | undefined;
  readonly input?: string | readonly ResponsesItem[] | null | undefined;
  readonly instructions?: string | null | undefined;
  readonly previous_response_id?: string | null | undefined;
}

/** What it answers: the SDK's `CompactedResponse` fits. */
export interface ResponsesCompactReply {
  readonly output: readonly ResponsesItem[];
  readonly usage?: object | null | undefined;
}

/** Who compacts: `client.responses` of the SDK. */
export interface ResponsesCompactor {
  // A method, so that the SDK's own fits, which takes a narrower body: what it gets is made of a request for the same API.
  compact(body: ResponsesCompactBody, options: { signal: AbortSignal }): PromiseLike<ResponsesCompactReply>;
}

export type ResponsesTask = SummaryTask<ResponsesRequest, ResponsesItem, ResponsesReply>;

/** Parameters of a request that a compaction has, too; the backend of Codex has none of them. V57 */
const sharedParameters = ['service_tier', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'];

/**
 * Has OpenAI compact the conversation. What it puts out is the next window, word for word and whatever its size. V57
 *
 * @throws CompactionError
 */
export async function compactResponses(client: ResponsesCompactor, task: ResponsesTask): Promise<NativeSummary<ResponsesItem>> {
  const { adapter, request, signal } = task;
  requireOwnHistory(adapter.context(request).serverHeld);
  const bounded = boundInput(task, isCompaction);
  const own = task.guidance ?? '';
  const body = { ...describeHistory(request, own, bounded?.items), ...(adapter.name !== 'openai-codex' && copyShared(request)) };
  const reply = await askProvider(task, () => client.compact(body, { signal }));
  const { usage: counts } = fieldsOf(reply);
  const usage = adapter.usage({ output: [], usage: isRecord(counts) ? counts : null }); // no id: there is no reply to go on from
  if (usage) task.onUsage(usage);
  const items = readOutput(reply);
  const readable = task.countItems(items.filter((item) => !isCompaction(item)));
  return {
    items,
    tokens: usage && readable + usage.outputTokens - (usage.reasoningTokens ?? 0),
    changed: [
      ...(isNothing(adapter.context(request).tools) ? [] : ['tools']), // the endpoint takes none
      ...(own === '' ? [] : ['instructions']),
      ...(bounded ? ['bounded history'] : []),
    ],
    omitted: bounded?.omitted,
  };
}

function describeHistory(
  { model, instructions, input, previous_response_id: previous }: ResponsesRequest,
  own: string,
  items: readonly ResponsesItem[] | undefined,
): ResponsesCompactBody {
  const section = own === '' ? [] : [`[Manual Compaction Instructions]\n${own}`];
  const texts = [...(isBlank(instructions ?? '') ? [] : [instructions]), ...section];
  return {
    model,
    input: items ?? input,
    ...(texts.length > 0 && { instructions: texts.join('\n\n') }),
    ...(!isNothing(previous) && { previous_response_id: previous }),
  };
}

function copyShared(request: ResponsesRequest): Fields {
  const fields: Fields = { ...request };
  const given = sharedParameters.filter((name) => !isNothing(fields[name]) && fields[name] !== 'scale'); // no tier of this endpoint
  return Object.fromEntries(given.map((name) => [name, fields[name]]));
}

/** Only what stands for the rest of the conversation may take its place: the messages of the user alone do not. */
function readOutput(reply: ResponsesCompactReply): readonly ResponsesItem[] {
  const { output } = fieldsOf(reply);
  if (!Array.isArray(output) || !output.every(isRecord))
    throw new CompactionError(
      'not-a-summary',
      `Expected the provider's compaction to have a list \`output\`, got ${typeof output}.`,
    );
  if (!output.some(holdsSummary))
    throw new CompactionError(
      'empty-summary',
      `Expected a compaction in the provider's output, got ${output.length} other items.`,
    );
  return output;
}

function holdsSummary(item: ResponsesItem): boolean {
  if (isCompaction(item)) return stringOf(item.encrypted_content) !== ''; // B038
  return kindOf(item) === 'message' ? item.role === 'assistant' && !isNothing(item.content) : kindOf(item) !== 'reasoning';
}

/** Codex has had another name for it. */
function isCompaction(item: ResponsesItem): boolean {
  return kindOf(item) === 'compaction' || kindOf(item) === 'compaction_summary';
}
