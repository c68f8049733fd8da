import type { ProviderAdapter } from './adapters/adapter.ts';
import { type ContextBudget, type ContextBudgetOptions, contextBudget, windowOf } from './budget/context-budget.ts';
import { createMeter } from './budget/meter.ts';
import { capThreshold, findRoute, type RoutePolicy } from './budget/route-policy.ts';
import type { CompactionDeps } from './compaction.ts';
import { copyDeep } from './copy.ts';
import { CompactionError } from './errors.ts';
import { isOrphanRecord } from './history/orphan-record.ts';
import { createItemReader } from './history/reading.ts';
import { hasUserContent } from './history/turns.ts';
import type { RequestView } from './history/view.ts';
import type { CompactorOptions, CountingOptions, RetainOptions, Send, SharedOptions, When } from './options.ts';
import type { ReasoningRule } from './rebuild.ts';
import { forkSummarizer } from './summarize/fork.ts';
import type { ProvenWindow } from './trigger.ts';
import { validateOptions } from './validate-options.ts';

/** Options with their defaults in place. */
export interface Settings<Request, Item, Reply>
  extends CompactionDeps<Request, Item, Reply>,
    Pick<SharedOptions<Request, Item, Reply, Request, Reply>, 'commit' | 'commitTimeout' | 'onEvent'> {
  when: When;
  /** What happens at the soft threshold; nothing where absent. */
  soft: CountingOptions['soft'];
  recoverOverflow: boolean;
  /** The summarizer sends on the request, so that what the server holds is in its summary, too. */
  asksWithRequest: boolean;
  timeout: number;
  /** Sends the turns of a loop, and summary requests where nothing else is said. */
  send: Send<Request, Reply> | undefined;
  /** Sends summary requests, whatever sends the turns. */
  summarySend: Send<Request, Reply> | undefined;
  budgetOf: (view: RequestView<Request, Item>, proven?: ProvenWindow) => ContextBudget;
  /** What holds for requests of this provider and model alone. */
  routeOf: (view: RequestView<Request, Item>) => RoutePolicy | undefined;
}

/**
 * @throws CompactionError `invalid-options`
 */
export function resolveOptions<Shape, Item, ReplyShape, Request extends Shape, Reply extends ReplyShape>(
  options: CompactorOptions<Shape, Item, ReplyShape, Request, Reply>,
): Settings<Request, Item, Reply> {
  validateOptions(options);
  requireSend(options);
  const { budget: { countTokens, soft, routes = [], ...budget } = {}, summary = {}, retain = {}, contextWindow } = options;
  const adapter: ProviderAdapter<Request, Item, Reply> = options.adapter;
  const { isUserInput } = retain;
  const summarizer = summary.summarizer ?? forkSummarizer();
  const routeOf = ({ context }: RequestView<Request, Item>) => findRoute(routes, adapter.name, context.model);
  return {
    adapter,
    read: createItemReader(adapter),
    meter: createMeter(adapter.family, countTokens),
    summarizer,
    isUserInput: (message) =>
      hasUserContent(message) && !isOrphanRecord(message) && (!isUserInput || isUserInput(copyDeep(message))),
    retries: summary.retries ?? 1,
    overflowRetries: summary.overflowRetries ?? 1,
    maxTokens: summary.maxTokens,
    replacePrompt: summary.replacePrompt,
    headings: summary.headings ?? [],
    redact: summary.redact,
    minimumSaving: summary.minimumSaving ?? leastSaving,
    target: summary.target,
    retain: { latestUserMessage: retain.latestUserMessage ?? true, tail: retain.tail, messages: retain.messages },
    reasoning: reasoningRule(adapter, retain.reasoning),
    timeout: summary.timeout ?? 120_000,
    when: options.when ?? 'turn',
    soft,
    recoverOverflow: options.recoverOverflow ?? false,
    asksWithRequest: summarizer.asksWithRequest ?? false,
    send: options.send,
    summarySend: summary.send,
    commit: options.commit,
    commitTimeout: options.commitTimeout,
    onEvent: options.onEvent,
    budgetOf: (view, proven) => {
      const { model, outputCap = budget.outputCap } = view.context;
      const known = budgetWithin({ ...budget, contextWindow: windowOf(contextWindow, model), outputCap }, model, proven);
      const effective = budget.ceiling ? Math.min(known.contextWindow, budget.ceiling) : known.contextWindow;
      return capThreshold(known, effective, routeOf(view)?.thresholdRatio);
    },
    routeOf,
  };
}

/** The budget, in the window that the provider was found to have where that is smaller than the one it was said to have. B156 */
function budgetWithin(options: ContextBudgetOptions, model: string | undefined, proven: ProvenWindow | undefined): ContextBudget {
  const budget = contextBudget(options);
  if (!proven || proven.model !== model || proven.tokens >= budget.contextWindow) return budget;
  const smaller = contextBudget({ ...options, contextWindow: proven.tokens });
  return { ...smaller, sources: { ...smaller.sources, contextWindow: 'usage' } };
}

/** The same settings with what holds for requests of this provider and model alone. */
export function withRoute<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  view: RequestView<Request, Item>,
): Settings<Request, Item, Reply> {
  const route = settings.routeOf(view);
  if (!route) return settings;
  const { overflowRetries = settings.overflowRetries, tailRatio: ratio } = route;
  const { tail } = settings.retain;
  return {
    ...settings,
    overflowRetries,
    retain: { ...settings.retain, tail: tail && ratio !== undefined ? { ...tail, ratio } : tail },
  };
}

/** Automatic replacements must save at least this part of what they replace. */
const leastSaving = 0.1;

function reasoningRule<Shape, Item, Reply>(
  adapter: ProviderAdapter<Shape, Item, Reply>,
  rule: RetainOptions['reasoning'] = 'strip',
): ReasoningRule {
  if (rule === 'drop-block' && !adapter.letReasoningDrop)
    throw new CompactionError(
      'invalid-options',
      `Expected \`retain.reasoning\` to be strip or keep: ${adapter.name} has nothing that drops a block.`,
    );
  return rule;
}

/** Without a `send`, every compaction would fail, and silently where nobody listens. */
function requireSend<Shape, Item, ReplyShape, Request, Reply>({
  send,
  summary,
  when,
}: CompactorOptions<Shape, Item, ReplyShape, Request, Reply>): void {
  if (send || summary?.send || summary?.summarizer || when === 'never') return;
  throw new CompactionError('invalid-options', 'Expected `send` to be a function that sends a request, got undefined.');
}
