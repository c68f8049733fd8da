import { contextBudget } from '../../src/budget/context-budget.ts';
import { loadTokenCounter } from '../../src/budget/tokenizer.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { extractSummary } from '../../src/summarize/extractive.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { requestTokens } from './request-tokens.ts';
import {
  beginsWith,
  changedFields,
  countWrappers,
  holdsVerbatim,
  latestUserInput,
  leadingSystem,
} from './transcript-run-checks.ts';
import type { Body, Provider, ReplayStep } from './transcript-run-providers.ts';

/** What happened in one conversation in one window, in numbers. */
export interface RunFigures {
  requests: number;
  /** Requests that were sent with a replacement in them. */
  rebuilt: number;
  compactions: number;
  /** Compactions that failed, by code. */
  failures: Record<string, number>;
  /** Requests over their budget, by what excuses them. */
  overBudget: Record<string, number>;
  /** Tokens that the recorded agent added over all. */
  growth: number;
  summaryCalls: number;
}

export interface Run {
  figures: RunFigures;
  /** What must not be, each with the number of its request. */
  problems: string[];
}

const countTokens = await loadTokenCounter();

/** Plays a recorded conversation through `withAutoCompaction`, request by request, and checks each one that is sent. */
export async function runConversation<Shape, Item, ShapeOfReply, Request extends Shape & Body, Reply extends ShapeOfReply>(
  provider: Provider<Shape, Item, ShapeOfReply, Request, Reply>,
  steps: Iterable<ReplayStep<Request, Reply>>,
  contextWindow: number,
): Promise<Run> {
  const { adapter } = provider;
  const figures: RunFigures = {
    requests: 0,
    rebuilt: 0,
    compactions: 0,
    failures: {},
    overBudget: {},
    growth: 0,
    summaryCalls: 0,
  };
  const problems: string[] = [];
  const problem = (text: string): number => problems.push(`request ${figures.requests}: ${text}`);

  let events: CompactionEvent[] = [];
  let turns: Request[] = [];
  let summaries: Request[] = [];
  let answer: ReplayStep<Request, Reply>['answer'];
  const create = withAutoCompaction(
    async (request: Request, { purpose }): Promise<Reply> => {
      const inputTokens = requestTokens(request);
      if (purpose === 'turn') {
        turns.push(request);
        return answer(inputTokens);
      }
      summaries.push(request);
      const asked = adapter.items(request).slice(0, -1).flatMap(adapter.readItem);
      return provider.writeSummary(extractSummary(asked, { maxTokens: provider.outputCap(request), countTokens }), inputTokens);
    },
    { adapter, contextWindow, onEvent: (event) => events.push(event) },
  );

  /** The conversation as it was sent last, with the reply to it. */
  let history: readonly object[] = [];
  let overflowed = false;
  let planTokens = 0; let unanch = '';

  for (const step of steps) {
    const { request } = step;
    events = [];
    turns = [];
    summaries = [];
    answer = step.answer;
    figures.requests++;
    figures.growth += requestTokens({ messages: [...step.added, step.reply] });

    const plan = await create.compactor.plan(request);
    planTokens = plan.estimate.tokens; unanch = plan.estimate.sources.tokens;
    await create(request);

    const expected = [...history, ...step.added];
    const sent = turns[0] ?? request;
    if (turns.length !== 1) problem(`sent ${turns.length} times`);
    const outcome = checkEvents();
    for (const summary of summaries) checkSummaryRequest(summary, request, expected);
    checkTurnRequest(sent, request);
    if (outcome === 'applied') checkRebuilt(sent, request);
    else if (sent.messages.length !== expected.length || !beginsWith(sent.messages, expected))
      problem('is not what was sent last and what is new');
    else if (figures.compactions === 0 && sent !== request) problem('is a copy, though nothing was replaced');
    if (outcome) overflowed = outcome === 'summarizer-overflow';
    checkSize(sent, request, plan.gate);
    history = [...sent.messages, step.reply];

    function checkEvents(): string | undefined {
      const started = events.filter(({ type }) => type === 'auto_compaction_started').length;
      const ended = events.filter(({ type }) => type !== 'auto_compaction_started' && type !== 'notice');
      if (started !== (plan.wouldCompact ? 1 : 0)) problem(`plan said ${plan.gate ?? 'compact'}, but ${started} started`);
      if (started !== ended.length) problem(`${started} started, ${ended.length} ended`);
      const [end] = ended;
      if (end?.type === 'auto_compaction_failed') {
        count(figures.failures, end.error.code);
        return end.error.code;
      }
      if (end?.type !== 'auto_compaction_applied') return undefined;
      figures.compactions++;
      if (end.prefix !== 'kept') problem(`prefix changed: ${end.because.join(', ')}`);
      return 'applied';
    }
  }
  return { figures, problems };

  function checkTurnRequest(sent: Request, request: Request): void {
    for (const { rule, path } of provider.validate(sent)) problem(`breaks ${rule} at ${path}`);
    if (!holdsVerbatim(sent.messages, latestUserInput(request.messages))) problem('lost the latest user message');
    const changed = changedFields(request, sent);
    if (changed.length > 0) problem(`changed ${changed.join(', ')}`);
    const system = leadingSystem(request.messages);
    if (!beginsWith(sent.messages, system)) problem('changed a system message');
    const { wrappers, nested } = countWrappers(adapter.items(sent).flatMap(adapter.readItem));
    if (wrappers > 0) figures.rebuilt++;
    if (nested || wrappers > Math.min(1, figures.compactions)) problem(`has ${wrappers} wrappers${nested ? ', nested' : ''}`);
  }

  /** Right after a compaction there is the replacement and nothing else. */
  function checkRebuilt(sent: Request, request: Request): void {
    const rest = sent.messages.slice(leadingSystem(request.messages).length);
    if (rest.length !== 1) problem(`has ${rest.length} messages beside the system messages, right after a compaction`);
  }

  function checkSummaryRequest(summary: Request, request: Request, expected: readonly object[]): void {
    figures.summaryCalls++;
    for (const { rule, path } of provider.validate(summary)) problem(`summary breaks ${rule} at ${path}`);
    if (summary.messages.length !== expected.length + 1 || !beginsWith(summary.messages, expected))
      problem('summary request is not the request and one message');
    const changed = changedFields(request, summary).filter((key) => !setForSummary.has(key));
    if (changed.length > 0) problem(`summary changed ${changed.join(', ')}`);
    if (requestTokens(summary) + provider.outputCap(summary) > contextWindow) problem(`summary does not fit the window: ${requestTokens(summary)} + ${provider.outputCap(summary)}, plan ${planTokens} ${unanch} of ${history.length}, ${requestTokens({messages:summary.messages.slice(history.length)})} new`);
  }

  function checkSize(sent: Request, request: Request, gate: string | undefined): void {
    const { inputBudget } = contextBudget({ contextWindow, outputCap: adapter.context(request).outputCap });
    const tokens = requestTokens(sent);
    if (tokens <= inputBudget) return;
    const cap = Math.min(8192, Math.floor(inputBudget / 5));
    const kept = [...leadingSystem(request.messages), { role: 'user', content: latestUserInput(request.messages) }];
    const least = requestTokens({ ...request, messages: kept }) + cap;
    if (least > inputBudget) count(figures.overBudget, 'what must stay');
    else if (overflowed) count(figures.overBudget, gate === 'suppressed' ? 'suppressed after overflow' : 'summary did not fit');
    else problem(`has ${tokens} tokens, the budget is ${inputBudget}, what must stay ${least}, gate ${gate}`);
  }
}

/** Parameters of a summary request that are its own. */
const setForSummary = new Set(['max_tokens', 'max_completion_tokens', 'tool_choice']);

export function count(counts: Record<string, number>, key: string, by = 1): void {
  counts[key] = (counts[key] ?? 0) + by;
}
