import type { ContextBudget } from './budget/context-budget.ts';
import type { Meter, UsageAnchor } from './budget/meter.ts';
import { type ItemReader, isSystem } from './history/reading.ts';
import type { RecognizeReplacement } from './history/replaced.ts';
import type { RequestView } from './history/view.ts';
import { estimateError } from './summarize/estimate-margin.ts';
import type { SummaryTask } from './summarize/summarizer.ts';

const largestDefaultCap = 8192;
const smallestDefaultCap = 64;

/** How long a summary may be, as long as the window has room for it. */
export function wantedCap(
  { maxTokens }: { maxTokens?: number | undefined },
  { inputBudget }: Pick<ContextBudget, 'inputBudget'>,
): number {
  return maxTokens ?? Math.max(smallestDefaultCap, Math.min(largestDefaultCap, Math.floor(inputBudget / 5)));
}

/** How the summarizer measures items, and which of them it must not leave out. */
export function sizesOf<Request, Item, Reply>(
  { read, meter }: { read: ItemReader<Item>; meter: Meter },
  { context }: RequestView<Request, Item>,
  recognize: RecognizeReplacement,
): Pick<SummaryTask<Request, Item, Reply>, 'countItems' | 'isStanding'> {
  return {
    countItems: (items) => meter.countReadings(items.map(read), context.model),
    isStanding: (item) => isSystem(read(item)) || recognize(read(item)) !== undefined,
  };
}

/** What the window has left beside the request and the instruction, in tokens; 0 or less where these alone are too long. */
export function findRoom<Request, Item>(
  { meter }: { meter: Meter },
  { view, budget, anchor }: { view: RequestView<Request, Item>; budget: ContextBudget; anchor?: UsageAnchor | undefined },
  instruction: string,
): { roomForOutput: number; estimatedTokens: number } {
  const { tokens, estimated } = meter.measure(view, anchor);
  const asked = meter.countMessages([{ role: 'user', parts: [{ type: 'text', text: instruction }] }], view.context.model);
  const roomForOutput = budget.contextWindow - tokens - asked - Math.ceil((estimated + asked) * estimateError);
  return { roomForOutput, estimatedTokens: estimated };
}
