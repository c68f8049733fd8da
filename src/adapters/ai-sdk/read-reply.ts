import type { FinishReason, ReadReplyOptions, ReplySummary } from '../adapter.ts';
import { fieldsOf, isNothing, isRecord, stringOf } from '../fields.ts';
import { invalidReply } from '../invalid-request.ts';
import { readStream } from '../read-stream.ts';
import { assembleContent, isCommentary, type RawReply } from './assemble-content.ts';
import { isClientCall, isPart, isToolActivity, type Part } from './parts.ts';
import { optionOf } from './provider-options.ts';
import { readUsage } from './read-usage.ts';
import type { AiSdkMessage, AiSdkPart, AiSdkReply, AiSdkStreamReply } from './shape.ts';
import { readInput, writeReply } from './write-reply.ts';

/** See `ProviderAdapter.readReply`. */
export async function readReply(reply: AiSdkReply, options: ReadReplyOptions = {}): Promise<ReplySummary<AiSdkMessage>> {
  const { signal, onText } = options;
  signal?.throwIfAborted();
  if (!isStream(reply)) return summarize(readObject(reply, onText));
  const assembler = assembleContent(onText);
  for await (const part of readStream(iterate(reply.stream), signal)) assembler.take(part);
  return summarize(assembler.finish());
}

/** Never looks into the stream. */
export function isStream(reply: AiSdkReply): reply is AiSdkStreamReply {
  return isRecord(reply) && isRecord(reply.stream) && typeof reply.stream.getReader === 'function';
}

/** Not every runtime can iterate over a `ReadableStream`. */
function iterate(stream: ReadableStream<AiSdkPart>): AsyncIterable<unknown> {
  const reader = stream.getReader();
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        const { done, value } = await reader.read();
        return done ? { done, value: undefined } : { done, value };
      },
      return: async () => {
        await reader.cancel();
        return { done: true, value: undefined };
      },
    }),
  };
}

function readObject(reply: unknown, onText: ReadReplyOptions['onText']): RawReply {
  if (!isRecord(reply) || !Array.isArray(reply.content))
    throw invalidReply('ai-sdk', 'a result with `content` or with a `stream`', reply);
  const content = reply.content.filter(isPart);
  const text = lastText(content);
  if (text !== '') onText?.(text);
  return { content, finishReason: reply.finishReason, usage: reply.usage };
}

function summarize({ content, finishReason, usage }: RawReply): ReplySummary<AiSdkMessage> {
  const calls = content.filter(isClientCall).map(({ toolCallId, toolName, input }) => ({
    type: 'toolCall' as const,
    id: stringOf(toolCallId),
    name: toolName,
    input: readInput(input),
  }));
  const finish = readFinish(finishReason, calls.length > 0);
  return { text: lastText(content), finish, calls, items: writeReply(content, finish), usage: readUsage(usage) };
}

/** The SDK has one word for several endings; the provider's own is beside it. Some providers say `stop` when they call tools. */
function readFinish(reason: unknown, hasCalls: boolean): FinishReason {
  const { unified, raw } = fieldsOf(reason);
  if (raw === 'refusal') return 'refusal';
  if (raw === 'pause_turn') return 'pause';
  if (raw === 'model_context_window_exceeded') return 'overflow';
  switch (unified) {
    case 'stop':
      return hasCalls ? 'tool-calls' : 'stop';
    case 'tool-calls':
    case 'length':
    case 'content-filter':
      return unified;
  }
  // What a stream of the SDK says that was cut, too.
  return isNothing(unified) || isNothing(raw) || unified === 'error' ? 'incomplete' : 'other';
}

/** Text after the last tool activity. Sources cut a text into adjacent parts; what stands apart is a paragraph of its own. */
function lastText(content: readonly Part[]): string {
  let text = '';
  let adjacent = true;
  let message: unknown;
  for (const part of content.slice(content.findLastIndex(isToolActivity) + 1)) {
    if (part.type === 'source' || (part.type === 'text' && isCommentary(part))) continue;
    const piece = part.type === 'text' ? stringOf(part.text) : '';
    if (piece === '') {
      adjacent = false;
      continue;
    }
    const id = optionOf(part.providerMetadata, 'itemId');
    if (text !== '' && (!adjacent || id !== message)) text += '\n\n';
    text += piece;
    adjacent = true;
    message = id;
  }
  return text;
}
