import type { ReadReplyOptions, ReplySummary } from '../adapter.ts';
import { type Fields, isRecord, listOf } from '../fields.ts';
import { invalidReply } from '../invalid-request.ts';
import { joinTexts } from '../join-texts.ts';
import { isStream, readStream } from '../read-stream.ts';
import { readFinish } from './finish-reason.ts';
import { roleOf } from './message-role.ts';
import { readCalls } from './read-calls.ts';
import { isCallBlock, textOfBlock } from './read-content.ts';
import { readUsage } from './read-usage.ts';
import { repairMessage } from './repair-message.ts';
import type { LangchainMessage, LangchainReply } from './shape.ts';

/** See `ProviderAdapter.readReply`. */
export async function readReply(reply: LangchainReply, options: ReadReplyOptions = {}): Promise<ReplySummary<LangchainMessage>> {
  const { signal, onText } = options;
  signal?.throwIfAborted();
  if (isStream(reply)) {
    const message = await readChunks(reply, signal, onText);
    return message ? summarize(message) : { text: '', finish: 'incomplete', calls: [], items: [] };
  }
  const summary = summarize(requireMessage(reply));
  const text = textOf(reply.content);
  if (text !== '') onText?.(text);
  return summary;
}

/** Chunks put themselves together. */
async function readChunks(
  stream: AsyncIterable<unknown>,
  signal: AbortSignal | undefined,
  onText: ReadReplyOptions['onText'],
): Promise<LangchainMessage | undefined> {
  let whole: LangchainMessage | undefined;
  for await (const value of readStream(stream, signal)) {
    const chunk = requireMessage(value);
    whole = whole && 'concat' in whole && typeof whole.concat === 'function' ? requireMessage(whole.concat(chunk)) : chunk;
    const text = textOf(chunk.content);
    if (text !== '') onText?.(text);
  }
  return whole;
}

function requireMessage(value: unknown): LangchainMessage {
  if (isAnswer(value)) return value;
  throw invalidReply('langchain', 'a message of the model, or a stream of its chunks', value);
}

function isAnswer(value: unknown): value is LangchainMessage {
  return isRecord(value) && roleOf(value) === 'assistant';
}

function summarize(message: LangchainMessage): ReplySummary<LangchainMessage> {
  const fields: Fields = { ...message };
  const calls = readCalls(fields);
  const finish = readFinish(fields, calls.length > 0);
  // A whole message is kept as it is. Of a broken one, what a provider would refuse in the next request goes. B184, B186
  const item = finish === 'incomplete' || finish === 'length' ? repairMessage(message) : message;
  const usage = readUsage(fields.usage_metadata);
  return {
    // Calls come after the text of a message: what was said before them is no answer.
    text: calls.length > 0 ? '' : lastText(message.content),
    finish,
    calls,
    items: item && repairMessage(item) ? [item] : [],
    usage,
  };
}

/** Text after the last thing that a tool of the provider did. */
function lastText(content: unknown): string {
  if (typeof content === 'string') return content;
  const blocks = listOf(content);
  return joinTexts(blocks.slice(blocks.findLastIndex(isToolActivity) + 1).map(textOfBlock));
}

/** `server_tool_use`, `web_search_tool_result`, `server_tool_call_result`, `executableCode` and their like. */
function isToolActivity(block: unknown): boolean {
  return isCallBlock(block) || (isRecord(block) && /tool|code/i.test(String(block.type)));
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((block) => textOfBlock(block) ?? '')
    .join('');
}
