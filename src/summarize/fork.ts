import type { ReplySummary, SummaryFork } from '../adapters/adapter.ts';
import { CompactionError, isCompactionError } from '../errors.ts';
import type { ToolCallPart } from '../message.ts';
import { acceptSummary } from './accept.ts';
import { retryTransient } from './retry.ts';
import type { Summarizer, Summary, SummaryTask } from './summarizer.ts';

/** What a model reads that calls a tool in a summary request. K35 */
export const toolDenial = 'Tool calls are disabled during compaction; use the history.';

const mostDenialRounds = 3;
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
    const fork = forkWithin(task, task.maxTokens);
    try {
      return await summarize(task, fork);
    } catch (error) {
      const larger = forkWithin(task, task.maxTokens * 2);
      const grows = (capOf(task, larger) ?? Number.POSITIVE_INFINITY) > (capOf(task, fork) ?? 0);
      if (!isCompactionError(error) || error.code !== 'truncated-summary' || !grows) throw error;
      task.onRestart?.();
      return await summarize(task, larger);
    }
  };
}

function forkWithin<Request, Item, Reply>(task: SummaryTask<Request, Item, Reply>, maxTokens: number): SummaryFork<Request> {
  const { adapter, request, instruction, roomForOutput } = task;
  const cap = fittingCap(task, maxTokens);
  if (!isWorthAsking(cap, maxTokens))
    throw new CompactionError(
      'summarizer-overflow',
      roomForOutput > 0
        ? `Expected room for a summary beside the request, but the window has only ${roomForOutput} tokens left.`
        : `Expected the summary request to fit the window, but it is ${-roomForOutput} tokens too long.`,
    );
  return adapter.forkForSummary(request, instruction, { maxTokens: cap });
}

/** The wanted cap, lowered so that request, summary and thinking fit the window together. Below 1 where not even that helps. */
export function fittingCap<Request, Item, Reply>(
  task: Pick<SummaryTask<Request, Item, Reply>, 'adapter' | 'request' | 'instruction' | 'roomForOutput'>,
  maxTokens: number,
): number {
  const { adapter, request, instruction, roomForOutput } = task;
  const least = adapter.forkForSummary(request, instruction, { maxTokens: 1 });
  const thinking = Math.max(0, (capOf(task, least) ?? 1) - 1); // what the adapter adds to every cap
  return Math.min(maxTokens, roomForOutput - thinking);
}

/** A summary that may have hardly any tokens is not worth asking for. */
export function isWorthAsking(cap: number, maxTokens: number): boolean {
  return cap >= Math.min(maxTokens, smallestCap);
}

function capOf<Request, Item, Reply>(
  { adapter }: Pick<SummaryTask<Request, Item, Reply>, 'adapter'>,
  fork: SummaryFork<Request>,
): number | undefined {
  return adapter.context(fork.request).outputCap;
}

function summarize<Request, Item, Reply>(task: SummaryTask<Request, Item, Reply>, fork: SummaryFork<Request>): Promise<Summary> {
  return retryTransient(() => ask(task, fork), {
    retries: task.retries,
    signal: task.signal,
    classify: (error) => task.adapter.classifyError(error),
    onRetry: () => task.onRestart?.(),
  });
}

/** One fork, followed through the rounds in which the model still tries to call tools. */
async function ask<Request, Item, Reply>(task: SummaryTask<Request, Item, Reply>, fork: SummaryFork<Request>): Promise<Summary> {
  const { adapter, instruction } = task;
  let { request } = fork;
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
