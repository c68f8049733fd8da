import { askModel } from './ask-model.ts';
import { askShorter } from './ask-shorter.ts';
import { type BoundedTask, boundWhereNeeded, findOmitted, shorten } from './fit-window.ts';
import type { Summarizer, SummaryTask, WrittenSummary } from './summarizer.ts';

/**
 * The default summarizer: asks the model with the parent's own request plus one user message, so that the prompt cache is used.
 * Tools stay in the request and are denied; nothing but the text of the last reply counts.
 *
 * @example
 * createCompactor({ adapter: openaiChat(), contextWindow: 128_000, send, summary: { summarizer: forkSummarizer() } });
 */
export function forkSummarizer(): Summarizer {
  return Object.assign(summarizeFork, { asksWithRequest: true, foresee: findOmitted });
}

async function summarizeFork<Request, Item, Reply>(task: SummaryTask<Request, Item, Reply>): Promise<WrittenSummary> {
  return askShorter(boundWhereNeeded(task), { ask: askBounded, shorten: (rejected) => shorten(task, rejected) }, task);
}

async function askBounded<Request, Item, Reply>({ task, omitted }: BoundedTask<Request, Item, Reply>): Promise<WrittenSummary> {
  const { text, changed = [] } = await askModel(task);
  return omitted ? { text, changed: [...changed, 'bounded history'], omitted } : { text, changed };
}
