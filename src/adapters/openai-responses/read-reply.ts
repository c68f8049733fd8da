import type { FinishReason, ReadReplyOptions, ReplySummary } from '../adapter.ts';
import { type Fields, fieldsOf, isRecord, listOf, stringOf } from '../fields.ts';
import { invalidReply } from '../invalid-request.ts';
import { callsIn } from '../neutral-parts.ts';
import { isStream, readStream } from '../read-stream.ts';
import { assembleReply, type RawReply, type ReplyEntry, readEntries, throwError } from './assemble-reply.ts';
import { callKey, isCommentary, isToolActivity, kindOf, resultKey } from './item-kinds.ts';
import { readItem } from './read-item.ts';
import { readUsage } from './read-usage.ts';
import type { ResponsesItem, ResponsesReply } from './shape.ts';
import { writeReply } from './write-reply.ts';

/** The part of the SDK's `ResponseStream` that a late listener needs. */
interface StartedStream {
  readonly ended: boolean;
  finalResponse(): Promise<object>;
}

/** See `ProviderAdapter.readReply`. */
export async function readReply(reply: ResponsesReply, options: ReadReplyOptions = {}): Promise<ReplySummary<ResponsesItem>> {
  const { signal, onText } = options;
  signal?.throwIfAborted();
  if (!isStream(reply)) return summarize(readObject(reply, onText));
  // A helper of the SDK that has ended gives a new listener no event, and no end either.
  if (isResponseStream(reply) && reply.ended) return summarize(readObject(await reply.finalResponse(), onText));
  const assembly = assembleReply(onText);
  for await (const event of readStream(reply, signal)) assembly.take(event);
  if (!assembly.started && isResponseStream(reply)) return summarize(readObject(await reply.finalResponse(), onText));
  return summarize(assembly.finish());
}

function isResponseStream(reply: AsyncIterable<object>): reply is AsyncIterable<object> & StartedStream {
  return 'ended' in reply && 'finalResponse' in reply && typeof reply.finalResponse === 'function';
}

function readObject(reply: unknown, onText: ReadReplyOptions['onText']): RawReply {
  const body = fieldsOf(reply);
  throwError(body);
  if (!Array.isArray(body.output))
    throw invalidReply('openai-responses', 'a response with `output` or a stream of events', reply);
  const entries = readEntries(body.output);
  const text = lastText(entries);
  if (text !== '') onText?.(text);
  const { status, incomplete_details: details } = body;
  return { entries, status, incompleteReason: isRecord(details) ? details.reason : undefined, usage: readUsage(body) };
}

function summarize(raw: RawReply): ReplySummary<ResponsesItem> {
  const { entries } = raw;
  const calls = callsIn(entries.flatMap(({ item }) => readItem(item)));
  const finish = readFinish(raw);
  return {
    text: lastText(entries),
    finish,
    calls,
    items: writeReply(entries, { natural: finish === 'stop' || finish === 'tool-calls', hasCalls: calls.length > 0 }),
    usage: raw.usage,
  };
}

function readFinish({ status, incompleteReason, entries }: RawReply): FinishReason {
  if (status === 'incomplete') {
    if (incompleteReason === 'max_output_tokens') return 'length';
    return incompleteReason === 'content_filter' ? 'content-filter' : 'other';
  }
  if (status !== 'completed') return 'incomplete';
  if (entries.some(({ item }) => partsOf(item).some(({ type }) => type === 'refusal'))) return 'refusal';
  return waitsForCaller(entries) ? 'tool-calls' : 'stop';
}

/** True where the caller has to act before the model can go on: the provider ran its own tools already. */
function waitsForCaller(entries: readonly ReplyEntry[]): boolean {
  const answered = new Set(entries.map(({ item }) => resultKey(item)));
  return entries.some(({ item }) => {
    const key = callKey(item);
    return key !== undefined && !answered.has(key);
  });
}

/** The answer: text after the last tool activity, without commentary. Each message is a paragraph of its own. */
function lastText(entries: readonly ReplyEntry[]): string {
  return entries
    .slice(entries.findLastIndex(({ item }) => isToolActivity(item)) + 1)
    .filter(({ item }) => kindOf(item) === 'message' && !isCommentary(item))
    .map(({ item }) => partsOf(item).map((part) => (part.type === 'output_text' ? stringOf(part.text) : '')))
    .map((texts) => texts.join(''))
    .filter((text) => text !== '')
    .join('\n\n');
}

function partsOf(item: Fields): Fields[] {
  return kindOf(item) === 'message' ? listOf(item.content).filter(isRecord) : [];
}
