import type { ForkOptions, SummaryFork } from '../adapter.ts';
import { type Fields, isNothing, isRecord } from '../fields.ts';
import { setSetting } from '../set-setting.ts';
import { kindOf } from './item-kinds.ts';
import type { ResponsesItem, ResponsesRequest } from './shape.ts';

/** The provider refuses a smaller output cap. */
const smallestCap = 16;

/**
 * Not rendered into the prompt, and wrong in a private request: it must not be appended to the user's conversation, come later, or hide
 * that it was too long.
 */
const neutralized = ['conversation', 'background', 'truncation'];

/**
 * The parent's request and one user message with this content. `previous_response_id` stays: what the server holds is what the summary is
 * about. Only a forced output format is relaxed: the summary is prose.
 */
export function forkRequest<R extends ResponsesRequest>(
  request: R,
  items: readonly ResponsesItem[],
  content: unknown,
  { maxTokens, effort, verbosity }: ForkOptions,
): SummaryFork<R> {
  const question: ResponsesItem = { type: 'message', role: 'user', content };
  // A trigger of the provider's own compaction is a question, too.
  const input = [...items.filter((item) => kindOf(item) !== 'compaction_trigger'), question];
  const fork: R = { ...request, input, max_output_tokens: Math.max(smallestCap, maxTokens) };
  // The bound names only some of the provider's fields; the copy is ours to change.
  const fields = fork as Fields;
  for (const key of neutralized) delete fields[key];
  fields.store = false; // stored by default
  if (isNothing(fields.tools)) {
    delete fields.tools;
    delete fields.tool_choice;
  } else fields.tool_choice = 'none';
  const changed = relaxFormat(fields) ? ['text.format'] : [];
  setSetting(fields, 'reasoning', 'effort', effort, changed);
  setSetting(fields, 'text', 'verbosity', verbosity, changed);
  return { request: fork, changed };
}

function relaxFormat(fields: Fields): boolean {
  const { text } = fields;
  if (!isRecord(text) || !isRecord(text.format) || text.format.type === 'text') return false;
  const { format: _format, ...rest } = text;
  if (Object.keys(rest).length > 0) fields.text = rest;
  else delete fields.text;
  return true;
}
