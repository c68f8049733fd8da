import type { Usage } from '../../adapters/adapter.ts';
import type { AnthropicMessage, AnthropicReplyMessage } from '../../adapters/anthropic/shape.ts';
import { fieldsOf, listOf } from '../../adapters/fields.ts';
import { CompactionError } from '../../errors.ts';
import { acceptSummary } from '../accept.ts';
import type { Summary } from '../summarizer.ts';
import { type CompactionRequest, type MessagesCompactor, type MessagesTask, replyTimeout } from './anthropic-request.ts';
import { askInline } from './ask-inline.ts';
import { askOnDemand } from './ask-on-demand.ts';
import { askProvider } from './ask-provider.ts';
import { isCompaction, textOfCompaction } from './compaction-block.ts';

/**
 * Has Anthropic compact the conversation on demand. The message that it answers with is the next window, word for word: its block is
 * signed.
 *
 * @throws CompactionError
 */
export function compactOnDemand(client: MessagesCompactor, task: MessagesTask): Promise<Summary<AnthropicMessage>> {
  // They replace the provider's own prompt: alone they would be no prompt.
  return compact(client, task, askOnDemand(task, task.guidance === undefined ? '' : task.instruction));
}

/**
 * The same by the older threshold. A summary that comes without its block is one in words. V59
 *
 * @throws CompactionError
 */
export function compactInline(
  client: MessagesCompactor,
  task: MessagesTask,
  options: { clearFirst: boolean },
): Promise<Summary<AnthropicMessage>> {
  return compact(client, task, askInline(task, task.guidance ?? '', options));
}

async function compact(
  client: MessagesCompactor,
  task: MessagesTask,
  { body, changed, omitted }: CompactionRequest,
): Promise<Summary<AnthropicMessage>> {
  const reply = await askProvider(task, () => client.create(body, { signal: task.signal, timeout: replyTimeout }));
  const usages = readUsages(task, reply);
  for (const usage of usages) task.onUsage(usage);
  const { message, text } = await readCompaction(task, reply);
  task.onText?.(text);
  if (!message) return { text, changed, omitted };
  const last = usages.at(-1);
  return { items: [message], tokens: last && last.outputTokens - (last.reasoningTokens ?? 0), changed, omitted };
}

/** What a compaction cost stands beside the reply's own usage, one entry for each time that the model was asked. */
function readUsages({ adapter }: MessagesTask, reply: AnthropicReplyMessage): Usage[] {
  const { usage } = fieldsOf(reply);
  const iterations = listOf(fieldsOf(usage).iterations);
  return (iterations.length > 0 ? iterations : [usage]).flatMap(
    (counts) => adapter.usage({ content: [], stop_reason: null, usage: counts }) ?? [],
  );
}

/** The compaction in a reply that paused behind it: the message with the one block that the provider knows again, or its text alone. */
async function readCompaction(
  { adapter, instruction, signal }: MessagesTask,
  reply: AnthropicReplyMessage,
): Promise<{ message?: AnthropicMessage; text: string }> {
  if (!Array.isArray(fieldsOf(reply).content))
    throw new CompactionError('not-a-summary', 'Expected the reply of the provider to be a message with `content`.');
  const read = await adapter.readReply(reply, { signal });
  const { content, stop_reason: ending } = reply;
  const compacted = ending === 'compaction';
  if (!compacted && (read.finish === 'stop' || read.finish === 'tool-calls'))
    throw new CompactionError('not-a-summary', 'Expected the provider to compact the conversation, but it answered instead.');
  const [block, ...others] = content;
  const finish = compacted ? 'stop' : read.finish;
  if (!block || !content.some(isCompaction)) return { text: acceptSummary({ text: read.text, finish }, instruction) };
  if (!isCompaction(block) || others.some(isCompaction))
    throw new CompactionError('not-a-summary', 'Expected one compaction block at the beginning of the reply.');
  const text = textOfCompaction(block); // null where the provider failed: B038
  acceptSummary({ text, finish }, instruction);
  return { message: { role: 'assistant', content }, text };
}
