import { loadTokenCounter } from '../../src/budget/tokenizer.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { extractSummary } from '../../src/summarize/extractive.ts';
import type { Summarizer } from '../../src/summarize/summarizer.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { requestTokens } from './request-tokens.ts';
import {
  type AllowedFailure,
  checkEvents,
  checkSummaryRequest,
  checkTurnRequest,
  type Excuse,
  endOf,
  failureOf,
  findExcuse,
  omittedIn,
} from './transcript-run-checks.ts';
import type { Body } from './transcript-run-messages.ts';
import type { Provider, ReplayStep } from './transcript-run-providers.ts';

/** What happened in one conversation in one window. */
export interface Run {
  requests: number;
  compactions: number;
  /** Compactions whose summary could not be asked about everything. */
  bounded: number;
  /** Compactions that failed: the summary would have saved too little. */
  failures: Record<AllowedFailure, number>;
  /** Requests with a replacement in them. */
  rebuilt: number;
  /** Requests over their budget, by what excuses them. */
  overBudget: Record<Excuse, number>;
  /** Tokens by which the caller's conversation grew. */
  growth: number;
  /** What must not be, each with the number of its request. */
  problems: string[];
}

const countTokens = await loadTokenCounter();

/**
 * Plays a recorded conversation through `withAutoCompaction`, request by request, and checks each that is sent. The provider replies what
 * was recorded, with usage, and to summary requests a summary of what they hold. With a `summarizer` none is asked.
 */
export async function runConversation<Shape, Item, ShapeOfReply, Request extends Shape & Body, Reply extends ShapeOfReply>(
  provider: Provider<Shape, Item, ShapeOfReply, Request, Reply>,
  steps: Iterable<ReplayStep<Request, Reply>>,
  contextWindow: number,
  summarizer?: Summarizer,
): Promise<Run> {
  const { adapter } = provider;
  const setting = { provider, contextWindow };
  const run = emptyRun();
  let applied = 0;
  let events: CompactionEvent[] = [];
  let turns: Request[] = [];
  let summaries: Request[] = [];
  let answer: ReplayStep<Request, Reply>['answer'];
  const create = withAutoCompaction(
    async (request: Request, { purpose }): Promise<Reply> => {
      const inputTokens = requestTokens(request);
      (purpose === 'turn' ? turns : summaries).push(request);
      if (purpose === 'turn') return answer(inputTokens);
      const asked = adapter.items(request).slice(0, -1).flatMap(adapter.readItem);
      return provider.writeSummary(extractSummary(asked, { maxTokens: provider.outputCap(request), countTokens }), inputTokens);
    },
    { adapter, contextWindow, summary: { summarizer }, onEvent: (event) => events.push(event) },
  );

  let history: readonly object[] = [];
  for (const { request, added, answer: recorded, reply } of steps) {
    events = [];
    turns = [];
    summaries = [];
    answer = recorded;
    const plan = await create.compactor.plan(request);
    await create(request);

    const step = { request, expected: [...history, ...added], plan, events, turns, summaries };
    const end = endOf(step);
    const failure = failureOf(step);
    if (end?.type === 'auto_compaction_applied') {
      applied++;
      if (omittedIn(step)) run.bounded++;
    }
    const found = [
      ...checkEvents(step),
      ...summaries.flatMap((summary) => checkSummaryRequest(summary, step, setting)),
      ...checkTurnRequest(step, setting, applied),
    ];
    const excuse = findExcuse(step, setting);
    if (typeof excuse === 'string') run.overBudget[excuse]++;
    else if (excuse) found.push(excuse.problem);
    if (failure) run.failures[failure]++;

    run.requests++;
    run.problems.push(...found.map((problem) => `request ${run.requests}: ${problem}`));
    if (applied > 0) run.rebuilt++;
    run.growth += requestTokens({ messages: [...added, reply] });
    history = [...(turns[0] ?? request).messages, reply];
  }
  run.compactions = applied;
  return run;
}

export function emptyRun(): Run {
  return {
    requests: 0,
    compactions: 0,
    bounded: 0,
    failures: { 'not-smaller': 0 },
    rebuilt: 0,
    overBudget: { 'what must stay': 0, 'hardly any room': 0 },
    growth: 0,
    problems: [],
  };
}
