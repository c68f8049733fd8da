import type { ReplySummary } from '../adapters/adapter.ts';
import { CompactionError, isCompactionError } from '../errors.ts';
import type { ToolCallPart } from '../message.ts';
import { acceptSummary } from './accept.ts';
import { retryTransient } from './retry.ts';
import type { Summarizer, Summary, SummaryTask } from './summarizer.ts';

/** What a model reads that calls a tool in a summary request. K35 */
export const toolDenial = 'Tool calls are disabled during compaction; use the history.';

const mostDenialRounds = 3;
/** A summary that may not even have this many tokens is not worth asking for. */
const smallestCap = 64;

/**
 * The default summarizer: asks the model with the parent's own request plus one user message, so that the prompt cache is used. Tools stay
 * in the request and are denied; nothing but the text of the last reply counts.
 *
 * @example
 * createCompactor({ adapter: openaiChat(), contextWindow: 128_000, send, summary: { summarizer: forkSummarizer() } });
 */
export function forkSummarizer(): Summarizer {
  return async (task) => {
    const cap = fittingCap(task);
    try {
      return await summarize(task, cap);
    } catch (error) {
      const larger = Math.min(cap * 2, task.roomForOutput);
      if (!isCompactionError(error) || error.code !== 'truncated-summary' || larger <= cap) throw error;
      task.onRestart?.();
      return await summarize(task, larger);
    }
  };
}

/** The wanted cap, lowered so that request and summary fit the window together. */
function fittingCap({
  maxTokens,
  roomForOutput,
}: Pick<SummaryTask<unknown, unknown, unknown>, 'maxTokens' | 'roomForOutput'>): number {
  if (roomForOutput < Math.min(maxTokens, smallestCap))
    throw new CompactionError(
      'summarizer-overflow',
      roomForOutput > 0
        ? `Expected room for a summary beside the request, but the window has only ${roomForOutput} tokens left.`
        : `Expected the summary request to fit the window, but it is ${-roomForOutput} tokens too long.`,
    );
  return Math.min(maxTokens, roomForOutput);
}

function summarize<Request, Item, Reply>(task: SummaryTask<Request, Item, Reply>, maxTokens: number): Promise<Summary> {
  return retryTransient(() => ask(task, maxTokens), {
    retries: task.retries,
    signal: task.signal,
    classify: (error) => task.adapter.classifyError(error),
    onRetry: () => task.onRestart?.(),
  });
}

/** One fork, followed through the rounds in which the model still tries to call tools. */
async function ask<Request, Item, Reply>(task: SummaryTask<Request, Item, Reply>, maxTokens: number): Promise<Summary> {
  const { adapter, instruction } = task;
  const fork = adapter.forkForSummary(task.request, instruction, { maxTokens });
  let request = fork.request;
  for (let round = 0; ; round++) {
    const reply = await read(task, await task.send(request));
    if (reply.usage) task.onUsage(reply.usage);
    const called =
      reply.calls.length > 0 && (reply.finish === 'stop' || reply.finish === 'tool-calls' || reply.finish === 'other');
    if (!called) return { text: acceptSummary(reply, instruction), changed: fork.changed };
    if (round === mostDenialRounds)
      throw new CompactionError('tool-calls', `Expected a summary, but the model called tools after ${round} denials.`);
    task.onRestart?.(); // text before a tool call is no part of the summary: K32
    request = adapter.withItems(request, [...adapter.items(request), ...reply.items, ...deny(task, reply.calls)]);
  }
}

async function read<Request, Item, Reply>(task: SummaryTask<Request, Item, Reply>, reply: Reply): Promise<ReplySummary<Item>> {
  const { signal, onText } = task;
  const summary = await task.adapter.readReply(reply, { signal, onText });
  signal.throwIfAborted(); // K33: also when text was received
  return summary;
}

function deny<Request, Item, Reply>({ adapter }: SummaryTask<Request, Item, Reply>, calls: readonly ToolCallPart[]): Item[] {
  const parts = calls.map(({ id }) => ({
    type: 'toolResult' as const,
    callId: id,
    content: [{ type: 'text' as const, text: toolDenial }],
    isError: true,
  }));
  return adapter.writeMessage({ role: 'tool', parts });
}
