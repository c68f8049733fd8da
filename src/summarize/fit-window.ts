import type { SummaryFork } from '../adapters/adapter.ts';
import type { Omitted } from '../events.ts';
import { halve } from './ask-shorter.ts';
import { boundItems } from './bound.ts';
import { estimateError, freedMargin } from './estimate-margin.ts';
import type { SummarySizes, SummaryTask } from './summarizer.ts';

const smallestCap = 64;

/** A task whose request fits, and what was left out of it. */
export interface BoundedTask<Request, Item, Reply> {
  task: SummaryTask<Request, Item, Reply>;
  /** Tokens of its conversation. */
  tokens: number;
  omitted?: Omitted | undefined;
}

/**
 * What a fork would leave out; undefined where the whole request fits.
 *
 * @throws CompactionError `summarizer-overflow` where not even a part of it does.
 */
export function findOmitted<Request, Item, Reply>(task: SummarySizes<Request, Item, Reply>): Omitted | undefined {
  return fits(task) ? undefined : boundItems(task, limitOf(task, sizeOf(task))).omitted;
}

/** Only what does not fit is bounded: otherwise the fork is whole. */
export function boundWhereNeeded<Request, Item, Reply>(
  task: SummaryTask<Request, Item, Reply>,
): BoundedTask<Request, Item, Reply> {
  const tokens = sizeOf(task);
  return fits(task) ? { task, tokens } : boundTo(task, tokens, limitOf(task, tokens));
}

/** True where the whole request fits, with a summary beside it. */
export function fits<Request, Item, Reply>(task: SummarySizes<Request, Item, Reply>): boolean {
  return isWorthAsking(fittingCap(task, task.maxTokens), task.maxTokens);
}

/** How large the conversation may be, so that the wanted summary has room beside it. */
export function limitOf<Request, Item, Reply>(task: SummarySizes<Request, Item, Reply>, tokens: number): number {
  const missing = task.maxTokens + thinkingOf(task) - task.roomForOutput;
  // What goes takes the tenth that was kept free for it along.
  const cut = missing / (1 + estimateError);
  return Math.floor(tokens - (cut <= task.estimatedTokens ? cut : missing - task.estimatedTokens * estimateError));
}

/** What the adapter adds to every output cap. */
export function thinkingOf<Request, Item, Reply>(
  task: Pick<SummaryTask<Request, Item, Reply>, 'adapter' | 'request' | 'instruction' | 'effort'>,
): number {
  const least = task.adapter.forkForSummary(task.request, task.instruction, { maxTokens: 1, effort: task.effort });
  return Math.max(0, (capOf(task, least) ?? 1) - 1);
}

function boundTo<Request, Item, Reply>(
  task: SummaryTask<Request, Item, Reply>,
  tokens: number,
  limit: number,
): BoundedTask<Request, Item, Reply> {
  const { adapter, request } = task;
  const { items, tokens: left, omitted } = boundItems(task, limit);
  return { task: replaceConversation(task, tokens, adapter.withItems(request, items), left), tokens: left, omitted };
}

/** The task with a request whose conversation has `left` tokens in place of `tokens`. */
export function replaceConversation<Request, Item, Reply>(
  task: SummaryTask<Request, Item, Reply>,
  tokens: number,
  request: Request,
  left: number,
): SummaryTask<Request, Item, Reply> {
  const cut = tokens - left;
  const freed = freedMargin(cut, task.estimatedTokens);
  const estimatedTokens = Math.max(0, task.estimatedTokens - cut);
  return { ...task, request, roomForOutput: task.roomForOutput + cut + freed, estimatedTokens };
}

/** Half of what was too long, bounded from the whole conversation again. V36 */
export function shorten<Request, Item, Reply>(
  task: SummaryTask<Request, Item, Reply>,
  rejected: BoundedTask<Request, Item, Reply>,
): BoundedTask<Request, Item, Reply> | undefined {
  const tokens = sizeOf(task);
  return halve(rejected, limitOf(task, tokens), (limit) => boundTo(task, tokens, limit));
}

export function sizeOf<Request, Item, Reply>({ adapter, request, countItems }: SummarySizes<Request, Item, Reply>): number {
  return countItems(adapter.items(request));
}

/** The wanted cap, lowered so that request, summary and thinking fit the window together. Below 1 where not even that helps. */
export function fittingCap<Request, Item, Reply>(
  task: Pick<SummaryTask<Request, Item, Reply>, 'adapter' | 'request' | 'instruction' | 'roomForOutput' | 'effort'>,
  maxTokens: number,
): number {
  return Math.min(maxTokens, task.roomForOutput - thinkingOf(task));
}

/** A summary that may have hardly any tokens is not worth asking for. */
export function isWorthAsking(cap: number, maxTokens: number): boolean {
  return cap >= Math.min(maxTokens, smallestCap);
}

export function capOf<Request, Item, Reply>(
  { adapter }: Pick<SummaryTask<Request, Item, Reply>, 'adapter'>,
  fork: SummaryFork<Request>,
): number | undefined {
  return adapter.context(fork.request).outputCap;
}
