import type { ProviderAdapter } from './adapters/adapter.ts';
import { type ContextBudget, contextBudget } from './budget/context-budget.ts';
import { type BudgetEstimate, toEstimate } from './budget/estimate.ts';
import { createMeter } from './budget/meter.ts';
import type { CompactionDeps } from './compaction.ts';
import { CompactionError } from './errors.ts';
import { copyDeep } from './history/copy.ts';
import { isOrphanRecord } from './history/orphan-record.ts';
import { createItemReader } from './history/reading.ts';
import { hasUserContent } from './history/turns.ts';
import { type RequestView, readRequest } from './history/view.ts';
import { type CompactorOptions, type Send, type SharedOptions, validateOptions, type When } from './options.ts';
import { applyOverlay, type Track } from './overlay.ts';
import { forkSummarizer } from './summarize/fork.ts';

/** Options with their defaults in place. */
export interface Settings<Request, Item, Reply>
  extends CompactionDeps<Request, Item, Reply>,
    Pick<SharedOptions<Request, Item, Reply, Request, Reply>, 'commit' | 'commitTimeout' | 'onEvent'> {
  when: When;
  /** The summarizer is the default one, which needs room in the window. */
  asksModel: boolean;
  timeout: number;
  /** Sends the turns of a loop. */
  send: Send<Request, Reply> | undefined;
  /** Sends summary requests. */
  summarySend: Send<Request, Reply> | undefined;
  budgetOf: (view: RequestView<Request, Item>) => ContextBudget;
}

/** A request as the caller has it, and as it is sent. The same where nothing is covered. */
export interface Inspection<Request, Item> {
  raw: RequestView<Request, Item>;
  view: RequestView<Request, Item>;
  budget: ContextBudget;
  repairs: readonly string[];
}

/**
 * @throws CompactionError `invalid-options`
 */
export function resolveOptions<Shape, Item, ReplyShape, Request extends Shape, Reply extends ReplyShape>(
  options: CompactorOptions<Shape, Item, ReplyShape, Request, Reply>,
): Settings<Request, Item, Reply> {
  validateOptions(options);
  requireSend(options);
  const { budget: { countTokens, ...budget } = {}, summary = {}, retain = {}, contextWindow } = options;
  const adapter: ProviderAdapter<Request, Item, Reply> = options.adapter;
  const { isUserInput } = retain;
  return {
    adapter,
    read: createItemReader(adapter),
    meter: createMeter(adapter.family, countTokens),
    summarizer: summary.summarizer ?? forkSummarizer(),
    isUserInput: (message) =>
      hasUserContent(message) && !isOrphanRecord(message) && (!isUserInput || isUserInput(copyDeep(message))),
    retries: summary.retries ?? 1,
    maxTokens: summary.maxTokens,
    replacePrompt: summary.replacePrompt,
    timeout: summary.timeout ?? 120_000,
    when: options.when ?? 'turn',
    asksModel: summary.summarizer === undefined,
    send: options.send,
    summarySend: summary.send ?? options.send,
    commit: options.commit,
    commitTimeout: options.commitTimeout,
    onEvent: options.onEvent,
    budgetOf: ({ context }) => contextBudget({ ...budget, contextWindow, outputCap: context.outputCap ?? budget.outputCap }),
  };
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

/** Reads a request and puts the track's replacement in its place. */
export function inspect<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  raw: RequestView<Request, Item>,
): Inspection<Request, Item> {
  const covered =
    track.overlay && raw.chain[track.overlay.covered.count] === track.overlay.covered.hash ? track.overlay : undefined;
  const { view, repairs } = covered ? applyOverlay(raw, covered, settings) : { view: raw, repairs: [] };
  return { raw, view, budget: settings.budgetOf(view), repairs };
}

export function readRaw<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  request: Request,
): RequestView<Request, Item> {
  return readRequest(settings.adapter, settings.read, request);
}

/** The size of what would be sent, with what is known of its conversation. */
export function estimateInspection<Request, Item, Reply>(
  { meter }: Settings<Request, Item, Reply>,
  { anchor }: Track<Request, Item>,
  { view, budget }: Inspection<Request, Item>,
): BudgetEstimate {
  const measurement = meter.measure(view, anchor);
  return toEstimate(budget, measurement, meter.breakdown(view, measurement.tokens));
}
