import { CompactionError } from '../errors.ts';
import { compactInline, compactOnDemand } from './native/anthropic.ts';
import type { MessagesCompactor, MessagesTask } from './native/anthropic-request.ts';
import { compactResponses, type ResponsesCompactor, type ResponsesTask } from './native/openai.ts';
import { validateNative } from './strategy-options.ts';
import type { Summarizer, Summary, SummaryTask } from './summarizer.ts';

export type { MessagesCompactor } from './native/anthropic-request.ts';
export type { ResponsesCompactBody, ResponsesCompactor, ResponsesCompactReply } from './native/openai.ts';

/** The providers whose own compaction is asked for. Give a client only where its endpoint really is the provider's own. */
export interface NativeOptions {
  /** `client.responses` of the `openai` SDK, for `openaiResponses` and `openaiCodex`: it asks `POST /responses/compact`. */
  openai?: ResponsesCompactor | undefined;
  /**
   * `client.beta.messages` of the `@anthropic-ai/sdk`, for `anthropicMessages`: it asks with the beta `compact-2026-09-04`. Turns are then
   * sent with that beta, too: the block that it gives stands in them.
   */
  anthropic?: MessagesCompactor | undefined;
  /**
   * Asks Anthropic with the older beta `compact-2026-01-12`, where the newer one is not offered. `compact`: that alone.
   * `clear-and-compact`: old thinking and results of tools are cleared first. Default: on demand, with the newer one. A conversation under
   * 50,000 tokens is not compacted this way.
   */
  anthropicInline?: 'compact' | 'clear-and-compact' | undefined;
}

/**
 * The provider's own compaction in place of a summary: what it gives takes the place of the conversation as it is, and only the provider
 * can read it. Where it fails the compaction fails; `firstOf(nativeSummarizer(…), forkSummarizer())` goes on without it. How long and how
 * thorough it is, is the provider's matter: a cap, an effort and headings of the summary do not reach it.
 *
 * Throws a `CompactionError`: `invalid-options` for a conversation of another adapter, before anything is sent; `incomplete-turn` while
 * Anthropic's model waits for a tool; `summarizer-overflow` and `summarizer-failed` for the provider's errors; `empty-summary`,
 * `not-a-summary`, `refused`, `truncated-summary` and `incomplete-reply` for what is no compaction.
 *
 * @throws CompactionError `invalid-options`
 * @example
 * const summarizer = nativeSummarizer({ openai: client.responses });
 */
export function nativeSummarizer(options: NativeOptions): Summarizer {
  validateNative(options);
  const summarize: Summarizer = async (task) => chooseCompaction(options, task.adapter.name)(task);
  return Object.assign(summarize, { asksWithRequest: true });
}

/** By what was given alone: that another endpoint speaks like the provider's says nothing of its compaction. V56 */
function chooseCompaction({ openai, anthropic, anthropicInline }: NativeOptions, adapter: string): Summarizer {
  if (openai && (adapter === 'openai-responses' || adapter === 'openai-codex'))
    return ofShape((task: ResponsesTask) => compactResponses(openai, task));
  if (anthropic && adapter === 'anthropic')
    return ofShape((task: MessagesTask) =>
      anthropicInline
        ? compactInline(anthropic, task, { clearFirst: anthropicInline === 'clear-and-compact' })
        : compactOnDemand(anthropic, task),
    );
  throw new CompactionError(
    'invalid-options',
    `Expected the client of a provider whose adapter is \`${adapter}\`, but there is none.`,
  );
}

/** For one adapter alone, whose name has told what its requests and items are. */
function ofShape<Request, Item, Reply>(compact: (task: SummaryTask<Request, Item, Reply>) => Promise<Summary<Item>>): Summarizer {
  return compact as unknown as Summarizer; // the name cannot tell that to the compiler
}
