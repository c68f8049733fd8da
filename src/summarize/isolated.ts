import { CompactionError } from '../errors.ts';
import type { Message } from '../message.ts';
import { askAboutTranscript, type TranscriptQuestion } from './ask-transcript.ts';
import { validateModel } from './strategy-options.ts';
import type { Summarizer, SummaryTask, WrittenSummary } from './summarizer.ts';
import { readRecord } from './transcript.ts';
import { ownModel, parentModel, type SummaryModel } from './transcript-model.ts';

/**
 * Asks for the summary with a request of its own: the conversation is a transcript in one message of the user, with calls and
 * results as text, without reasoning and media. The prompt cache of the conversation is not used (`prefix: 'changed'`,
 * `transcript`), but no history can be misread as turns to go on with, and any model can be asked.
 *
 * Without a model: the parent's, with its system text and tools. Long results of tools (4,096 tokens) and arguments (1,024) are
 * cut, which is told as `omitted`. Throws as the default summarizer does; errors of a model of its own name that model. Throws
 * `invalid-options` at once.
 *
 * @example
 * const cheap = isolatedSummarizer({
 *   adapter: openaiChat(),
 *   request: { model: 'gpt-4.1-mini', messages: [] },
 *   send: (request, { signal }) => client.chat.completions.create(request, { signal }),
 *   contextWindow: 1_000_000,
 * });
 * createCompactor({ adapter: anthropicMessages(), contextWindow: 200_000, send, summary: { summarizer: cheap } });
 */
export function isolatedSummarizer<Shape, Item, ReplyShape, Request extends Shape, Reply extends ReplyShape>(
  model?: SummaryModel<Shape, Item, ReplyShape, Request, Reply>,
): Summarizer {
  const ask = createTranscriptAsker(model);
  return async (task) => ask(task, readRecord(task), task);
}

/** Asks about messages of a task. */
type TranscriptAsker = <Request, Item, Reply>(
  task: SummaryTask<Request, Item, Reply>,
  record: readonly Message[],
  question: TranscriptQuestion,
) => Promise<WrittenSummary>;

/**
 * Asks the given model, or that of the task.
 *
 * @throws CompactionError `invalid-options`
 */
export function createTranscriptAsker<Shape, Item, ReplyShape, Request extends Shape, Reply extends ReplyShape>(
  model: SummaryModel<Shape, Item, ReplyShape, Request, Reply> | undefined,
): TranscriptAsker {
  validateModel(model);
  const prepare = model && ownModel(model);
  return async (task, record, question) => {
    if (record.length === 0)
      throw new CompactionError('nothing-to-compact', 'Expected messages that can be shown as text, got none.');
    const { changed = [], ...summary } = prepare
      ? await askAboutTranscript(record, await prepare(task), question)
      : await askAboutTranscript(record, parentModel(task), question);
    return { ...summary, changed: [...changed, 'transcript'] };
  };
}
