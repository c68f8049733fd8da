import type { ProviderAdapter, Usage } from './adapters/adapter.ts';
import type { ContextBudget } from './budget/context-budget.ts';
import type { Meter, UsageAnchor } from './budget/meter.ts';
import { copyDeep } from './copy.ts';
import { CompactionError } from './errors.ts';
import type { Notice } from './events.ts';
import { type ItemReader, messagesOf } from './history/reading.ts';
import type { RecognizeReplacement } from './history/replaced.ts';
import type { RequestView } from './history/view.ts';
import type { ToolCallPart } from './message.ts';
import {
  addFocus,
  buildAutoCompactionPrompt,
  buildCompactionPrompt,
  requireHeadings,
  spareNewestTurns,
} from './prompt/instruction.ts';
import { type Redact, redactText } from './redact.ts';
import type { RetentionRules } from './retain.ts';
import { resolveEffort } from './summarize/effort.ts';
import { missingHeadings } from './summarize/headings.ts';
import type { Summarizer, Summary, SummaryTask } from './summarize/summarizer.ts';
import { findRoom, sizesOf, wantedCap } from './summary-sizes.ts';

/** What asking for a summary takes, whoever's conversation it is. */
export interface SummaryDeps<Request, Item, Reply> {
  adapter: ProviderAdapter<Request, Item, Reply>;
  read: ItemReader<Item>;
  meter: Meter;
  summarizer: Summarizer;
  retries: number;
  overflowRetries: number;
  maxTokens?: number | undefined;
  replacePrompt?: string | undefined;
  /** What stays beside the summary. */
  retain: RetentionRules;
  /** Headings that a summary must have. */
  headings: readonly string[];
  /** Takes out of texts what must not be in a summary. */
  redact?: Redact | undefined;
}

/** How a manual compaction is asked for. */
export interface ManualForm {
  /** What the user wants the summary to pay attention to; appended to the instruction. */
  instructions?: string | undefined;
  /** `plain`: the summary alone. `tagged`: in `<compacted_context>`. Default `plain`. */
  format?: 'plain' | 'tagged' | undefined;
  /** Output cap of this summary in tokens. Default: `summary.maxTokens`. */
  maxTokens?: number | undefined;
  /** Reasoning effort for this summary, as the provider names it. Default: as in the request. */
  effort?: string | undefined;
  /** Take the next lower effort where the provider's shape does not have that one, and say so. Default: refuse it. */
  allowEffortDowngrade?: boolean | undefined;
  /** How wordy this summary is to be: `low`, `medium` or `high`, where the provider's shape has such a parameter. */
  verbosity?: string | undefined;
}

/** What one summary is asked with. */
export interface SummaryInput<Request, Item, Reply> {
  trigger: 'automatic' | 'manual';
  form: ManualForm;
  view: RequestView<Request, Item>;
  /** The same as the provider accepts it. */
  request: Request;
  budget: ContextBudget;
  /** What the conversation may have afterwards, in tokens. */
  target: number;
  anchor?: UsageAnchor | undefined;
  recognize: RecognizeReplacement;
  send: (request: Request) => Promise<Reply>;
  signal: AbortSignal;
  onText?: ((text: string) => void) | undefined;
  onRestart?: (() => void) | undefined;
  onDenied?: ((calls: readonly ToolCallPart[]) => void) | undefined;
  onUsage: (usage: Usage) => void;
  onNotice: (notice: Notice) => void;
}

/**
 * A summary that has the headings it must have: where some are missing it is asked for once more.
 *
 * @throws CompactionError, and whatever `signal` was aborted with.
 */
export async function askForSummary<Request, Item, Reply>(
  input: SummaryInput<Request, Item, Reply>,
  deps: SummaryDeps<Request, Item, Reply>,
): Promise<Summary<Item>> {
  const { headings } = deps;
  const { trigger, form } = input;
  const prompt = promptFor(deps, trigger, form);
  const effort = effortFor(input, deps);
  const ask = async (asked: Prompt): Promise<Summary<Item>> => {
    const summary = await deps.summarizer(describeTask(input, deps, asked, effort));
    return redactSummary(checkSummary(summary, input.signal), input, deps);
  };

  const first = await ask(prompt);
  const missing = missingHeadings(first.text, headings);
  if (missing.length === 0) return first;
  input.onRestart?.();
  input.onNotice({ code: 'summary-corrected', message: `The summary had no ${listNames(missing)}: it is asked for once more.` });
  const second = await ask({ ...prompt, instruction: requireHeadings(prompt.instruction, headings) });
  const stillMissing = missingHeadings(second.text, headings);
  if (stillMissing.length > 0)
    throw new CompactionError(
      'missing-headings',
      `Expected a summary with the headings ${headings.join(', ')}, got none of the name ${listNames(stillMissing)}.`,
    );
  return second;
}

/** What the model is asked, and what of it are words of the host and its user. */
export function promptFor(
  { replacePrompt, redact, retain }: Pick<SummaryDeps<never, never, never>, 'replacePrompt' | 'redact' | 'retain'>,
  trigger: 'automatic' | 'manual',
  { instructions }: ManualForm,
): Prompt {
  const focus = trigger === 'manual' && instructions !== undefined ? redactText(instructions, 'instructions', redact) : undefined;
  const guidance = addFocus(replacePrompt ?? '', focus).trim() || undefined;
  if (replacePrompt !== undefined) return { instruction: addFocus(replacePrompt, focus), guidance };
  const instruction = trigger === 'automatic' ? buildAutoCompactionPrompt() : buildCompactionPrompt(focus);
  return { instruction: retain.tail ? spareNewestTurns(instruction) : instruction, guidance };
}

type Prompt = Pick<SummaryTask<never, never, never>, 'instruction' | 'guidance'>;

function describeTask<Request, Item, Reply>(
  input: SummaryInput<Request, Item, Reply>,
  deps: SummaryDeps<Request, Item, Reply>,
  prompt: Prompt,
  effort: string | undefined,
): SummaryTask<Request, Item, Reply> {
  const { trigger, form, view, request, budget, target, recognize, send, signal, onUsage, onNotice } = input;
  const { adapter, read, meter, retries, overflowRetries, maxTokens, redact } = deps;
  return {
    trigger,
    request,
    messages: copyDeep(redact ? messagesOf(adapter.items(request).map(read)) : messagesOf([...view.leading, ...view.body])),
    ...prompt,
    maxTokens: wantedCap({ maxTokens: form.maxTokens ?? maxTokens }, budget),
    effort,
    verbosity: form.verbosity,
    target,
    ...findRoom(deps, input, prompt.instruction),
    retries,
    overflowRetries,
    countTokens: meter.count,
    ...sizesOf(deps, view, recognize),
    adapter,
    send,
    signal,
    onText: redact ? undefined : input.onText,
    onRestart: input.onRestart,
    onDenied: input.onDenied,
    onUsage,
    onNotice,
  };
}

/** The text of a summary that is redacted is given away at its end: a secret may be in two pieces of it. */
function redactSummary<Request, Item, Reply>(
  summary: Summary<Item>,
  { onText }: SummaryInput<Request, Item, Reply>,
  { redact }: SummaryDeps<Request, Item, Reply>,
): Summary<Item> {
  if (!redact || summary.text === undefined) return summary;
  const text = redactText(summary.text, 'summary', redact);
  onText?.(text);
  return { ...summary, text };
}

/** Resolved before anything is sent. V8 */
function effortFor<Request, Item, Reply>(
  { form, view, onNotice }: SummaryInput<Request, Item, Reply>,
  { adapter }: SummaryDeps<Request, Item, Reply>,
): string | undefined {
  const { effort, allowEffortDowngrade = false } = form;
  if (effort === undefined) return undefined;
  const resolved = resolveEffort(effort, { adapter, model: view.context.model, allowDowngrade: allowEffortDowngrade });
  if (resolved !== effort)
    onNotice({
      code: 'effort-lowered',
      message: `The provider's shape has no effort ${effort}: ${resolved ?? 'none'} is asked for.`,
    });
  return resolved;
}

/** The summarizer may be the host's own. */
function checkSummary<Item>(summary: Summary<Item>, signal: AbortSignal): Summary<Item> {
  signal.throwIfAborted();
  if (Array.isArray(summary?.items)) {
    if (summary.tokens !== undefined && !(summary.tokens >= 0))
      throw new CompactionError('not-a-summary', `Expected items with their size in tokens, got ${String(summary.tokens)}.`);
    if (summary.items.length > 0) return summary;
    throw new CompactionError('empty-summary', 'Expected items in place of the conversation, got none.');
  }
  const text: unknown = summary?.text;
  if (typeof text !== 'string')
    throw new CompactionError(
      'not-a-summary',
      `Expected the summarizer to return a text, got ${text === null ? 'null' : typeof text}.`,
    );
  if (text.trim() === '') throw new CompactionError('empty-summary', 'Expected a summary, got a blank text.');
  return summary;
}

function listNames(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
