import type {
  AnthropicMessage,
  AnthropicReply,
  AnthropicReplyMessage,
  AnthropicRequest,
} from '../../adapters/anthropic/shape.ts';
import { type Fields, listOf } from '../../adapters/fields.ts';
import { CompactionError } from '../../errors.ts';
import type { Omitted } from '../../events.ts';
import { openCalls } from '../../history/turns.ts';
import { requireOwnHistory } from '../own-history.ts';
import type { SummaryTask } from '../summarizer.ts';
import { boundInput } from './bound-input.ts';
import { isMarker } from './compaction-block.ts';

/** Who compacts: `client.beta.messages` of the SDK. */
export interface MessagesCompactor {
  // A method, so that the SDK's own fits, which takes a narrower body: what it gets is made of a request for the same API.
  create(body: AnthropicRequest, options: { signal: AbortSignal; timeout: number }): PromiseLike<AnthropicReplyMessage>;
}

export type MessagesTask = SummaryTask<AnthropicRequest, AnthropicMessage, AnthropicReply>;

/** A request for a compaction, and how it differs from its parent. */
export interface CompactionRequest {
  body: AnthropicRequest;
  changed: readonly string[];
  omitted?: Omitted | undefined;
}

/** The SDK wants one where a reply that is not streamed may become long. The deadline of a compaction is shorter. */
export const replyTimeout = 600_000;

/** Of no effect on what the model sees, and refused or spent by a request that gives no reply. */
const unseen = ['stop_sequences', 'stream', 'fallback_credit_token'];

/**
 * A copy of the parent's request that is not streamed and fits the window.
 *
 * @throws CompactionError `incomplete-turn`, `invalid-request`, `summarizer-overflow`
 */
export function copyRequest(task: MessagesTask): {
  messages: readonly AnthropicMessage[];
  fields: Fields;
  changed: string[];
  omitted?: Omitted | undefined;
} {
  const { adapter, request, messages } = task;
  requireOwnHistory(adapter.context(request).serverHeld);
  if (openCalls([{ messages }]).length > 0)
    throw new CompactionError(
      'incomplete-turn',
      'Expected all calls of tools to have their results before the provider compacts.',
    );
  const bounded = boundInput(task, isMarker);
  const copied = bounded ? adapter.withItems(request, bounded.items) : request;
  const fields: Fields = { ...copied };
  for (const name of unseen) delete fields[name];
  return { messages: copied.messages, fields, changed: bounded ? ['bounded history'] : [], omitted: bounded?.omitted };
}

/** The request with these betas beside its own. */
export function withBetas(fields: Fields, betas: readonly string[]): AnthropicRequest {
  fields.betas = [...new Set([...listOf(fields.betas), ...betas])];
  return fields as Fields & AnthropicRequest; // a copy of one
}
