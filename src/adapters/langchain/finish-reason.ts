import type { FinishReason } from '../adapter.ts';
import { type Fields, fieldsOf, isNothing, isRecord, stringOf } from '../fields.ts';

/** Words of all providers, in lower case. */
const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['completed', 'stop'],
  ['complete', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  ['model_length', 'length'],
  ['tool_calls', 'tool-calls'],
  ['tool_use', 'tool-calls'],
  ['tool_call', 'tool-calls'],
  ['function_call', 'tool-calls'],
  ['content_filter', 'content-filter'],
  ['content_filtered', 'content-filter'],
  ['guardrail_intervened', 'content-filter'],
  ['safety', 'content-filter'],
  ['recitation', 'content-filter'],
  ['blocklist', 'content-filter'],
  ['prohibited_content', 'content-filter'],
  ['spii', 'content-filter'],
  ['refusal', 'refusal'],
  ['pause_turn', 'pause'],
  ['model_context_window_exceeded', 'overflow'],
  // What the Responses API says of a reply that is not finished.
  ['in_progress', 'incomplete'],
  ['queued', 'incomplete'],
  ['incomplete', 'incomplete'],
]);

const keys = ['finish_reason', 'stop_reason', 'stopReason', 'finishReason', 'done_reason'];

/** How a reply ended: providers say it under many names, and the package for Anthropic in another place when it streams. */
export function readFinish({ response_metadata, additional_kwargs, content }: Fields, hasCalls: boolean): FinishReason {
  const metadata = fieldsOf(response_metadata);
  const extras = fieldsOf(additional_kwargs);
  if (!isNothing(extras.refusal) || hasRefusal(content)) return 'refusal';
  const said = reasonIn(metadata) ?? reasonIn(extras);
  if (said === undefined) return 'incomplete';
  const reason = finishReasons.get(said.toLowerCase()) ?? 'other';
  // Google and some servers say `stop` when they call tools.
  return hasCalls && reason === 'stop' ? 'tool-calls' : reason;
}

function reasonIn(fields: Fields): string | undefined {
  const { messageStop, status, incomplete_details: details } = fields;
  const ofStream = isRecord(messageStop) ? messageStop.stopReason : undefined; // Bedrock
  const ofResponse = isRecord(details) && status === 'incomplete' ? (details.reason ?? status) : status;
  return [...keys.map((key) => fields[key]), ofStream, ofResponse].map(stringOf).find((reason) => reason !== '');
}

function hasRefusal(content: unknown): boolean {
  return Array.isArray(content) && content.some((block: unknown) => isRecord(block) && block.type === 'refusal');
}
