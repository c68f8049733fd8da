import type { ReplySummary, SummaryFork } from '../adapters/adapter.ts';
import { copyDeep } from '../copy.ts';
import { CompactionError, isCompactionError } from '../errors.ts';
import type { ToolCallPart } from '../message.ts';
import { acceptSummary } from './accept.ts';
import { capOf, fittingCap, isWorthAsking } from './fit-window.ts';
import { retryTransient } from './retry.ts';
import type { SummaryTask, WrittenSummary } from './summarizer.ts';

/** What a model reads that calls a tool in a summary request. K35 */
export const toolDenial = 'Tool calls are disabled during compaction; use the history.';

const mostDenialRounds = 3;

/** A request for a summary that should fit the window. */
export interface Question<Request, Item, Reply>
  extends Pick<
    SummaryTask<Request, Item, Reply>,
    | 'adapter'
    | 'request'
    | 'instruction'
    | 'maxTokens'
    | 'effort'
    | 'verbosity'
    | 'roomForOutput'
    | 'retries'
    | 'send'
    | 'signal'
    | 'onText'
    | 'onRestart'
    | 'onDenied'
    | 'onUsage'
  > {
  /** What is put at the end of the request, where that is more than the instruction. */
  readonly prompt?: string | undefined;
}

/**
 * Asks for a summary with one request. A reply that was cut is asked for once more, with twice the cap where that fits.
 *
 * @throws CompactionError, the provider's error, and whatever the signal was aborted with.
 */
export async function askModel<Request, Item, Reply>(question: Question<Request, Item, Reply>): Promise<WrittenSummary> {
  const fork = forkWithin(question, question.maxTokens);
  try {
    return await askPatiently(question, fork);
  } catch (error) {
    if (!isCompactionError(error) || error.code !== 'truncated-summary') throw error;
    const larger = forkWithin(question, question.maxTokens * 2);
    if ((capOf(question, larger) ?? Number.POSITIVE_INFINITY) <= (capOf(question, fork) ?? 0)) throw error;
    question.onRestart?.();
    return await askPatiently(question, larger);
  }
}

function forkWithin<Request, Item, Reply>(question: Question<Request, Item, Reply>, maxTokens: number): SummaryFork<Request> {
  const { adapter, request, instruction, prompt = instruction, effort, verbosity, roomForOutput } = question;
  const cap = fittingCap(question, maxTokens);
  if (!isWorthAsking(cap, maxTokens))
    throw new CompactionError(
      'summarizer-overflow',
      roomForOutput > 0
        ? `Expected room for a summary beside the request, but the window has only ${roomForOutput} tokens left.`
        : `Expected the summary request to fit the window, but it is ${-roomForOutput} tokens too long.`,
    );
  return adapter.forkForSummary(request, prompt, { maxTokens: cap, effort, verbosity });
}

/** Waits for a provider that is busy. */
function askPatiently<Request, Item, Reply>(
  question: Question<Request, Item, Reply>,
  fork: SummaryFork<Request>,
): Promise<WrittenSummary> {
  return retryTransient(() => ask(question, fork), {
    retries: question.retries,
    signal: question.signal,
    classify: (error) => question.adapter.classifyError(error),
    onRetry: () => question.onRestart?.(),
  });
}

/** One fork, followed through the rounds in which the model still tries to call tools. */
async function ask<Request, Item, Reply>(
  question: Question<Request, Item, Reply>,
  fork: SummaryFork<Request>,
): Promise<WrittenSummary> {
  const { adapter, instruction } = question;
  let { request } = fork;
  for (let round = 0; ; round++) {
    const reply = await read(question, await question.send(request));
    if (reply.usage) question.onUsage(reply.usage);
    const called =
      reply.calls.length > 0 && (reply.finish === 'stop' || reply.finish === 'tool-calls' || reply.finish === 'other');
    if (!called) return { text: acceptSummary(reply, instruction), changed: fork.changed };
    if (round === mostDenialRounds)
      throw new CompactionError('tool-calls', `Expected a summary, but the model called tools after ${round} denials.`);
    question.onRestart?.(); // text before a tool call is no part of the summary: K32
    question.onDenied?.(copyDeep([...reply.calls]));
    request = adapter.withItems(request, [...adapter.items(request), ...reply.items, ...deny(question, reply.calls)]);
  }
}

async function read<Request, Item, Reply>(
  { adapter, signal, onText }: Question<Request, Item, Reply>,
  reply: Reply,
): Promise<ReplySummary<Item>> {
  const summary = await adapter.readReply(reply, { signal, onText });
  signal.throwIfAborted(); // K33: also when text was received
  return summary;
}

function deny<Request, Item, Reply>({ adapter }: Question<Request, Item, Reply>, calls: readonly ToolCallPart[]): Item[] {
  const parts = calls.map(({ id, name }) => ({
    type: 'toolResult' as const,
    callId: id,
    name,
    content: [{ type: 'text' as const, text: toolDenial }],
    isError: true,
  }));
  return adapter.writeMessage({ role: 'tool', parts });
}
