import type { FinishReason, ReadReplyOptions, ReplySummary } from '../adapter.ts';
import { type Fields, isRecord } from '../fields.ts';
import { invalidReply } from '../invalid-request.ts';
import { joinTexts } from '../join-texts.ts';
import { isSameList } from '../lists.ts';
import { callsIn } from '../neutral-parts.ts';
import { isStream, readStream } from '../read-stream.ts';
import { type AssembledMessage, assembleMessage } from './assemble-message.ts';
import { blocksOf, citedText, isReasoning, isServerCall, isToolResult, memberOf, textOfBlock, toolUseIdOf } from './blocks.ts';
import { readItem } from './read-item.ts';
import { readUsage } from './read-usage.ts';
import { repairItem } from './repair-item.ts';
import type { BedrockBlock, BedrockMessage, BedrockReply } from './shape.ts';

/** See `ProviderAdapter.readReply`. */
export async function readReply(reply: BedrockReply, options: ReadReplyOptions = {}): Promise<ReplySummary<BedrockMessage>> {
  options.signal?.throwIfAborted();
  const stream = streamOf(reply);
  if (!stream) return readMessage(reply, options);
  const assembler = assembleMessage(options.onText);
  for await (const event of readStream(stream, options.signal)) assembler.take(event);
  const assembled = assembler.finish();
  return summarize({ role: 'assistant', content: assembled.content }, assembled);
}

/** The events of a streamed reply; undefined for a reply object. */
export function streamOf(reply: BedrockReply): AsyncIterable<unknown> | undefined {
  const stream = isRecord(reply) && 'stream' in reply ? reply.stream : reply;
  return isStream(stream) ? stream : undefined;
}

function readMessage(reply: unknown, { onText }: ReadReplyOptions): ReplySummary<BedrockMessage> {
  const message = memberOf(memberOf(reply, 'output'), 'message');
  if (!isRecord(reply) || !(Array.isArray(message?.content) || typeof reply.stopReason === 'string'))
    throw invalidReply('bedrock', 'a reply with `output.message` or a `stream` of events', reply);
  const content: readonly BedrockBlock[] = Array.isArray(message?.content) ? message.content : [];
  const { stopReason, usage } = reply;
  const summary = summarize(
    // The provider's own message, with what else is in it: that is what stands at this place.
    message?.role === 'assistant' ? (message as Fields & BedrockMessage) : { role: 'assistant', content },
    {
      content,
      received: content,
      stopReason: typeof stopReason === 'string' ? stopReason : undefined,
      usage,
      callsReadable: true,
    },
  );
  if (summary.text !== '') onText?.(summary.text);
  return summary;
}

function summarize(
  message: BedrockMessage,
  { received, stopReason, usage, callsReadable }: AssembledMessage,
): ReplySummary<BedrockMessage> {
  const finish = stopReason === undefined ? 'incomplete' : readFinish(stopReason, callsReadable);
  // A whole message is kept as it is. Of a broken one, what the provider would refuse in the next request goes. B184, B186
  const item = finish === 'incomplete' || finish === 'length' ? mendCut(message) : message;
  const items = item && blocksOf(item).length > 0 ? [item] : [];
  return {
    text: lastText(received),
    finish,
    calls: callsIn(items.flatMap(readItem)),
    items,
    usage: readUsage(usage),
  };
}

/** What the provider accepts of a reply that was cut: no open calls of its own tools, and no reasoning at the end. */
function mendCut(message: BedrockMessage): BedrockMessage | undefined {
  const blocks = blocksOf(message);
  const answered = new Set(blocks.filter(isToolResult).map(toolUseIdOf));
  const closed = blocks.filter((block) => !isServerCall(block) || answered.has(toolUseIdOf(block)));
  const content = closed.slice(0, closed.findLastIndex((block) => !isReasoning(block)) + 1);
  return repairItem(isSameList(content, blocks) ? message : { ...message, content });
}

function readFinish(stopReason: string, callsReadable: boolean): FinishReason {
  switch (stopReason) {
    case 'max_tokens':
      return 'length';
    case 'content_filtered':
    case 'guardrail_intervened':
      return 'content-filter';
    case 'refusal': // Claude's own word, where it is passed on
      return 'refusal';
    case 'model_context_window_exceeded':
      return 'overflow';
  }
  if (!callsReadable) return 'incomplete';
  if (stopReason === 'end_turn' || stopReason === 'stop_sequence') return 'stop';
  return stopReason === 'tool_use' ? 'tool-calls' : 'other';
}

/** Text after the last tool activity. */
function lastText(content: readonly BedrockBlock[]): string {
  const start = content.findLastIndex((block) => memberOf(block, 'toolUse') || isToolResult(block)) + 1;
  return joinTexts(content.slice(start).map((block) => textOfBlock(block) ?? citedText(block)));
}
