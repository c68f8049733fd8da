import type { TokenCounter } from '../budget/token-counter.ts';
import { CompactionError } from '../errors.ts';
import type { Message } from '../message.ts';
import { isNextAction, readAssistantWords } from './extractive/assistant-words.ts';
import { payAttention } from './extractive/attention.ts';
import { isOutcome, listOutcomes } from './extractive/command-outcomes.ts';
import { type Conversation, readConversation } from './extractive/conversation.ts';
import { isErrorLine, listErrors } from './extractive/errors-seen.ts';
import { listFiles } from './extractive/file-activity.ts';
import { type Entry, fitSections } from './extractive/fit-sections.ts';
import { isPlanItem, listPlanItems } from './extractive/plan-items.ts';
import { isFactLine, listFacts } from './extractive/tool-facts.ts';
import { listConstraints, listRequests } from './extractive/user-demands.ts';
import type { Summarizer, Summary, SummaryTask } from './summarizer.ts';

export interface ExtractiveOptions {
  /** Cap of the summary in tokens, as `countTokens` counts them. It is never exceeded. */
  maxTokens: number;
  countTokens: TokenCounter;
}

/** What is new is told in at most a third of its length, but in so many code units however little it is. */
const leastNewLength = 1_000;

/**
 * A summarizer that asks no model: `extractSummary` of the conversation. It costs no request, takes no time worth the name, and the
 * same conversation always gives the same summary. As the only summarizer, or as the last resort after others.
 *
 * Throws the abort's reason where the signal is aborted, and a `CompactionError` (`empty-summary`) where the cap leaves no room.
 *
 * @example
 * const summarize = extractiveSummarizer();
 */
export function extractiveSummarizer(): Summarizer {
  return async <Request, Item, Reply>(task: SummaryTask<Request, Item, Reply>): Promise<Summary> => {
    task.signal.throwIfAborted();
    const text = extractSummary(task.messages, { maxTokens: task.maxTokens, countTokens: task.countTokens });
    if (text === '')
      throw new CompactionError(
        'empty-summary',
        `The summary cap of ${task.maxTokens} tokens leaves no room for a summary: expected at least some twenty.`,
      );
    task.onText?.(text);
    return { text, changed: [] };
  };
}

/**
 * A summary of the conversation in the five sections, made of its own words: requests and rules of the user, files and commands with
 * their outcome, errors and findings. Deterministic, no network, linear in the input.
 *
 * The first rule of the user, every written path, the last error and the next action are always in it. An earlier summary in the
 * conversation is taken apart and carried over. Below the room that these need, it gives up written paths from the oldest until they
 * take half of the room, then all that may be left out, then the newest request, more paths, the last error, the first rule; an empty
 * text where not even one character fits.
 *
 * @example
 * extractSummary(
 *   [{ role: 'user', parts: [{ type: 'text', text: 'Fix the build. Never touch the lock file.' }] }],
 *   { maxTokens: 500, countTokens: (text) => text.length / 4 },
 * ).includes('- Never touch the lock file.'); // true
 */
export function extractSummary(messages: readonly Message[], { maxTokens, countTokens }: ExtractiveOptions): string {
  const conversation = readConversation(messages);
  const findings = conversation.earlier.Discoveries.filter((line) => !isErrorLine(line) && !isFactLine(line));
  const attention = payAttention(conversation, findings);
  const said = readAssistantWords(conversation, findings, attention);
  const facts = listFacts(conversation, attention);
  const files = listFiles(conversation);
  const accomplished = [
    ...carriedWork(conversation),
    ...byTime([...listOutcomes(conversation), ...said.did, ...listPlanItems(conversation)]),
  ];

  return fitSections(
    [
      { section: 'Key Instructions', contest: 'constraints', share: 0.12, entries: listConstraints(conversation) },
      { section: 'Discoveries', contest: 'findings', share: 0.24, entries: said.carried },
      { section: 'Discoveries', contest: 'findings', share: 0.15, entries: said.found },
      { section: 'Discoveries', contest: 'errors', share: 0.08, entries: listErrors(conversation) },
      { section: 'Accomplished', contest: 'work', share: 0.15, entries: [...accomplished, ...(said.next ? [said.next] : [])] },
      { section: 'Discoveries', contest: 'facts', share: 0.07, entries: facts.carried },
      { section: 'Discoveries', contest: 'facts', share: 0.07, entries: facts.found },
      { section: 'Goal', contest: 'requests', share: 0.08, entries: listRequests(conversation) },
      { section: 'Relevant Files', contest: 'files', share: 0.06, entries: files.entries },
    ],
    {
      maxTokens,
      countTokens,
      newLength: Math.max(leastNewLength, conversation.newLength / 3),
      omittedPaths: files.omitted,
    },
  );
}

/** What an earlier summary told as done, without what this one tells anew. */
function carriedWork({ earlier }: Conversation): Entry[] {
  return earlier.Accomplished.filter((line) => !isNextAction(line) && !isOutcome(line) && !isPlanItem(line)).map((text) => ({
    at: -1,
    text,
    rank: 4,
  }));
}

function byTime(entries: Entry[]): Entry[] {
  return entries.sort((left, right) => left.at - right.at);
}
