import type { ResponsesItem, ResponsesReplyObject } from '../../../adapters/openai-responses.ts';
import type { Ending, ReplyScript, ScriptedCall } from '../../provider-kit.ts';
import { halvesOf } from '../read-script.ts';

/** The provider never gives an id twice. */
let ids = 0;

/** A whole response. */
export function replyObject(script: ReplyScript): ResponsesReplyObject {
  const output = writeOutput(script);
  return { ...envelope(script), output };
}

/** Its events: what was put out is told item by item, and once more at the end where the server does so. */
export async function* replyStream(script: ReplyScript, repeatsOutput = true): AsyncGenerator<object> {
  const output = writeOutput(script);
  yield { type: 'response.created', response: { ...envelope({}), status: 'in_progress', output: [] } };
  for (const [output_index, item] of output.entries()) yield* itemEvents(item, output_index, script);
  const status = statusOf(script);
  if (status) yield { type: `response.${status}`, response: { ...envelope(script), output: repeatsOutput ? output : [] } };
}

/** What the model puts out: its reasoning, a message, calls. */
function writeOutput({ text, reasoning, calls = [], ending }: ReplyScript): ResponsesItem[] {
  return [
    ...(reasoning === undefined ? [] : [writeReasoning(reasoning)]),
    ...(text === undefined ? [] : [writeText(text, ending)]),
    ...calls.map(writeCall),
  ];
}

export function writeReasoning(text: string): ResponsesItem {
  return {
    type: 'reasoning',
    id: `rs_${++ids}`,
    summary: [{ type: 'summary_text', text }],
    encrypted_content: 'b3BhcXVl',
  };
}

export function writeText(text: string, ending?: Ending): ResponsesItem {
  const part = ending === 'refusal' ? { type: 'refusal', refusal: text } : { type: 'output_text', text, annotations: [] };
  return { type: 'message', id: `msg_${++ids}`, role: 'assistant', status: 'completed', content: [part] };
}

export function writeCall({ id, name, input }: ScriptedCall): ResponsesItem {
  const text = JSON.stringify(input);
  return { type: 'function_call', id: `fc_${++ids}`, call_id: id, name, arguments: text, status: 'completed' };
}

function* itemEvents(item: ResponsesItem, output_index: number, { text = '', ending }: ReplyScript): Generator<object> {
  const at = { item_id: item.id, output_index };
  if (item.type === 'message') {
    yield { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', content: [] } };
    const type = ending === 'refusal' ? 'response.refusal.delta' : 'response.output_text.delta';
    for (const delta of halvesOf({ text })) yield { type, ...at, content_index: 0, delta };
  } else if (item.type === 'function_call') {
    yield { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', arguments: '' } };
    yield { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments };
  } else yield { type: 'response.output_item.added', output_index, item };
  // A connection that breaks does so in the middle of an item.
  if (ending !== 'cut') yield { type: 'response.output_item.done', output_index, item };
}

const statuses: Record<Ending, string | undefined> = {
  stop: 'completed',
  length: 'incomplete',
  'tool-calls': 'completed',
  refusal: 'completed',
  'content-filter': 'incomplete',
  cut: undefined,
};

function statusOf({ ending = 'stop' }: ReplyScript): string | undefined {
  return statuses[ending];
}

function envelope(script: ReplyScript): Omit<ResponsesReplyObject, 'output'> & { id: string } {
  const { ending, usage } = script;
  const status = statusOf(script);
  const reason = ending === 'length' ? 'max_output_tokens' : 'content_filter';
  return {
    id: `resp_${++ids}`,
    ...(status !== undefined && { status }),
    error: null,
    incomplete_details: status === 'incomplete' ? { reason } : null,
    usage: usage
      ? {
          input_tokens: usage.inputTokens,
          input_tokens_details: { cached_tokens: usage.cachedInputTokens ?? 0, cache_write_tokens: usage.cacheWriteTokens ?? 0 },
          output_tokens: usage.outputTokens,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: usage.inputTokens + usage.outputTokens,
        }
      : null,
  };
}
