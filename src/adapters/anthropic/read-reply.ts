import type { FinishReason, ReadReplyOptions, ReplySummary } from '../adapter.ts';
import { readAnthropicUsage } from '../anthropic-usage.ts';
import { fieldsOf, isRecord } from '../fields.ts';
import { invalidReply } from '../invalid-request.ts';
import { joinTexts } from '../join-texts.ts';
import { callsIn } from '../neutral-parts.ts';
import { isStream, readStream } from '../read-stream.ts';
import { type AssembledMessage, assembleMessage } from './assemble-message.ts';
import { blocksOf, isServerCall, isServerResult, isToolResult, typeOf, withoutFinalThoughts } from './blocks.ts';
import { readItem } from './read-item.ts';
import { repairItem } from './repair-item.ts';
import type { AnthropicBlock, AnthropicMessage, AnthropicReply, AnthropicReplyMessage } from './shape.ts';

/** The part of the SDK's `MessageStream` that a late listener needs. */
interface StartedStream {
  readonly ended: boolean;
  finalMessage(): Promise<AnthropicReplyMessage>;
}

/** See `ProviderAdapter.readReply`. */
export async function readReply(reply: AnthropicReply, options: ReadReplyOptions = {}): Promise<ReplySummary<AnthropicMessage>> {
  options.signal?.throwIfAborted();
  if (!isStream(reply)) return readMessage(reply, options);
  // A `MessageStream` that has ended gives a new listener no event, and no end either.
  if (isMessageStream(reply) && reply.ended) return readMessage(await reply.finalMessage(), options);
  const assembler = assembleMessage(options.onText);
  for await (const event of readStream(reply, options.signal)) assembler.take(event);
  if (!assembler.started && isMessageStream(reply)) return readMessage(await reply.finalMessage(), options);
  return summarize(assembler.finish());
}

function readMessage(reply: AnthropicReplyMessage, { onText }: ReadReplyOptions): ReplySummary<AnthropicMessage> {
  if (!isRecord(reply) || !Array.isArray(reply.content))
    throw invalidReply('anthropic', 'a message with `content` or a stream of events', reply);
  const { content, stop_reason, usage } = reply;
  const blocks: readonly AnthropicBlock[] = Array.isArray(content) ? content : [];
  const summary = summarize({
    content: [...blocks],
    received: blocks,
    stopReason: typeof stop_reason === 'string' ? stop_reason : null,
    usage: fieldsOf(usage),
    whole: true,
    callsReadable: true,
  });
  if (summary.text !== '') onText?.(summary.text);
  return summary;
}

function summarize({
  content,
  received,
  stopReason,
  usage,
  whole,
  callsReadable,
}: AssembledMessage): ReplySummary<AnthropicMessage> {
  const finish = whole && stopReason !== null ? readFinish(stopReason, callsReadable) : 'incomplete';
  // A whole message is kept as it is. Of a broken one, what the provider would refuse in the next request goes. B184, B186
  const message: AnthropicMessage = { role: 'assistant', content };
  const item = finish === 'incomplete' || finish === 'length' ? mendCut(message, finish) : message;
  const calls = item ? callsIn(readItem(item)) : [];
  return {
    text: lastText(received),
    finish,
    calls,
    items: item && blocksOf(item).length > 0 ? [item] : [],
    usage: readAnthropicUsage(usage),
  };
}

/** What the provider accepts of a reply that was cut: no open server calls, and no thoughts at its end. */
function mendCut(message: AnthropicMessage, finish: FinishReason): AnthropicMessage | undefined {
  const closed = finish === 'incomplete' ? { ...message, content: dropOpenServerCalls(blocksOf(message)) } : message;
  const repaired = repairItem(closed);
  const blocks = repaired ? blocksOf(repaired) : [];
  const content = withoutFinalThoughts(blocks);
  return content === blocks ? repaired : { ...message, content };
}

function readFinish(stopReason: string, callsReadable: boolean): FinishReason {
  switch (stopReason) {
    case 'max_tokens':
      return 'length';
    case 'refusal':
      return 'refusal';
    case 'pause_turn':
      return 'pause';
    case 'model_context_window_exceeded':
      return 'overflow';
  }
  if (!callsReadable) return 'incomplete';
  if (stopReason === 'end_turn' || stopReason === 'stop_sequence') return 'stop';
  return stopReason === 'tool_use' ? 'tool-calls' : 'other';
}

/** Text after the last tool activity. */
function lastText(content: readonly AnthropicBlock[]): string {
  return joinTexts(content.slice(content.findLastIndex(isToolActivity) + 1).map(textOfBlock));
}

function textOfBlock(block: unknown): string | undefined {
  return isRecord(block) && block.type === 'text' && typeof block.text === 'string' ? block.text : undefined;
}

function isToolActivity(block: AnthropicBlock): boolean {
  return typeOf(block) === 'tool_use' || isToolResult(block) || isServerCall(block) || isServerResult(block);
}

/** A call of the provider's own tools that was cut off before its result cannot be sent back. */
function dropOpenServerCalls(content: readonly AnthropicBlock[]): AnthropicBlock[] {
  const answered = new Set(content.filter(isServerResult).map((block) => isRecord(block) && block.tool_use_id));
  return content.filter((block) => !isServerCall(block) || (isRecord(block) && answered.has(block.id)));
}

function isMessageStream(reply: AsyncIterable<unknown>): reply is AsyncIterable<unknown> & StartedStream {
  return 'ended' in reply && 'finalMessage' in reply && typeof reply.finalMessage === 'function';
}
