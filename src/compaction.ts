import type { ProviderAdapter, Usage } from './adapters/adapter.ts';
import type { ContextBudget } from './budget/context-budget.ts';
import type { Meter, UsageAnchor } from './budget/meter.ts';
import { CompactionError } from './errors.ts';
import { copyDeep } from './history/copy.ts';
import { checkpointsFirst, type ItemReader, messagesOf, type Reading } from './history/reading.ts';
import { repairItems } from './history/repair.ts';
import { divide, type RecognizeReplacement, type ReplacedPart } from './history/replaced.ts';
import type { IsUserInput } from './history/turns.ts';
import { type RequestView, readRequest } from './history/view.ts';
import { makeWellFormed } from './history/well-formed.ts';
import type { Message } from './message.ts';
import { buildAutoCompactionPrompt, buildCompactionPrompt } from './prompt/instruction.ts';
import { buildReplacement } from './prompt/replacement.ts';
import type { Summarizer } from './summarize/summarizer.ts';

/** What a compaction needs to know of its surroundings. */
export interface CompactionDeps<Request, Item, Reply> {
  adapter: ProviderAdapter<Request, Item, Reply>;
  read: ItemReader<Item>;
  meter: Meter;
  summarizer: Summarizer;
  isUserInput: IsUserInput;
  retries: number;
  maxTokens?: number | undefined;
  replacePrompt?: string | undefined;
}

/** How a manual compaction is asked for. */
export interface ManualForm {
  /** What the user wants the summary to pay attention to; appended to the instruction. */
  instructions?: string | undefined;
  /** `plain`: the summary alone. `tagged`: in `<compacted_context>`. Default `plain`. */
  format?: 'plain' | 'tagged' | undefined;
}

export interface CompactionInput<Request, Item, Reply> {
  trigger: 'automatic' | 'manual';
  form: ManualForm;
  view: RequestView<Request, Item>;
  budget: ContextBudget;
  anchor?: UsageAnchor | undefined;
  recognize: RecognizeReplacement;
  send: (request: Request) => Promise<Reply>;
  signal: AbortSignal;
  onText?: ((text: string) => void) | undefined;
  onRestart?: (() => void) | undefined;
  onUsage: (usage: Usage) => void;
}

/** A finished summary in its place, not yet committed or installed. */
export interface Compaction<Request, Item> {
  /** The message that takes the place of the conversation. */
  replacement: Message;
  /** The same as native items. */
  items: readonly Item[];
  /** Their fingerprints, by which the replacement is known again. */
  fingerprints: readonly string[];
  /** How many items at the end stay behind the replacement. */
  kept: number;
  /** The request with the replacement in it. */
  view: RequestView<Request, Item>;
  tokensBefore: number;
  tokensAfter: number;
  /** Why the summary request could not repeat the parent's prefix; empty where it did. */
  changed: readonly string[];
  repairs: readonly string[];
}

/** Automatic replacements must save at least this part of what they replace. */
const leastSaving = 0.1;
const largestDefaultCap = 8192;
const smallestDefaultCap = 64;
/** Estimates may be too low by this part: a provider refuses a request that leaves no room for its output cap. */
const estimateError = 0.1;

/**
 * One compaction, from plan to replacement: divides the history, asks for the summary, accepts it or throws. Changes nothing.
 *
 * @throws CompactionError, and whatever `signal` was aborted with.
 */
export async function compactView<Request, Item, Reply>(
  input: CompactionInput<Request, Item, Reply>,
  deps: CompactionDeps<Request, Item, Reply>,
): Promise<Compaction<Request, Item>> {
  const { adapter, meter } = deps;
  const { trigger, form, view, budget } = input;
  const part = divide(view, { isUserInput: deps.isUserInput, recognize: input.recognize });
  // A manual summary in the middle of a run holds what the user said: the run goes on being compacted.
  if (trigger === 'automatic' && !part.lastUserMessage && !part.saidBefore)
    throw new CompactionError('no-user-message', 'Automatic compaction requires a user message.'); // K20
  await meter.load();
  const instruction = instructionFor(deps, trigger, form);
  const tokensBefore = meter.measure(view, input.anchor).tokens;
  const { request, repairs } = repairedRequest(view, deps);

  const { text, changed = [] } = await deps.summarizer({
    trigger,
    request,
    messages: copyDeep(messagesOf([...view.leading, ...view.body])),
    instruction,
    maxTokens: wantedCap(deps, budget),
    roomForOutput: roomForOutput(deps, input, instruction),
    retries: deps.retries,
    countTokens: meter.count,
    adapter,
    send: input.send,
    signal: input.signal,
    onText: input.onText,
    onRestart: input.onRestart,
    onUsage: input.onUsage,
  });
  input.signal.throwIfAborted();
  if (typeof text !== 'string')
    throw new CompactionError(
      'not-a-summary',
      `Expected the summarizer to return a text, got ${text === null ? 'null' : typeof text}.`,
    );
  if (text.trim() === '') throw new CompactionError('empty-summary', 'Expected a summary, got a blank text.');

  // Well-formed for the store, too: what is sent is. B140
  const replacement = makeWellFormed(placeSummary(text, trigger, form, part));
  const rebuilt = rebuild(replacement, part, input, deps);
  requireSaving(part, rebuilt.readings, trigger, view, meter);
  return {
    replacement,
    items: rebuilt.readings.map((reading) => reading.item),
    kept: part.tail.length,
    fingerprints: rebuilt.readings.map((reading) => reading.fingerprint),
    view: rebuilt.view,
    tokensBefore,
    tokensAfter: meter.measure(rebuilt.view).tokens,
    changed: repairs.length > 0 ? [...changed, 'repaired history'] : changed,
    repairs,
  };
}

/** What the model is asked. */
export function instructionFor(
  { replacePrompt }: { replacePrompt?: string | undefined },
  trigger: 'automatic' | 'manual',
  form: ManualForm,
): string {
  return replacePrompt ?? (trigger === 'manual' ? buildCompactionPrompt(form.instructions) : buildAutoCompactionPrompt());
}

/** How long a summary may be, as long as the window has room for it. */
export function wantedCap({ maxTokens }: { maxTokens?: number | undefined }, { inputBudget }: ContextBudget): number {
  return maxTokens ?? Math.max(smallestDefaultCap, Math.min(largestDefaultCap, Math.floor(inputBudget / 5)));
}

/** What the window has left beside the request and the instruction, in tokens; 0 or less where these alone are too long. */
export function roomForOutput<Request, Item>(
  { meter }: { meter: Meter },
  { view, budget, anchor }: { view: RequestView<Request, Item>; budget: ContextBudget; anchor?: UsageAnchor | undefined },
  instruction: string,
): number {
  const { tokens, estimated } = meter.measure(view, anchor);
  const asked = meter.countMessages([{ role: 'user', parts: [{ type: 'text', text: instruction }] }], view.context.model);
  return budget.contextWindow - tokens - asked - Math.ceil((estimated + asked) * estimateError);
}

/** The request to summarize: the very same one, unless the provider would refuse it. */
function repairedRequest<Request, Item, Reply>(
  view: RequestView<Request, Item>,
  deps: CompactionDeps<Request, Item, Reply>,
): { request: Request; repairs: readonly string[] } {
  const { items: sound, repairs } = repairItems([...view.leading, ...view.body], deps, { closeOpen: true });
  return { request: repairs.length > 0 ? deps.adapter.withItems(view.request, sound) : view.request, repairs };
}

function placeSummary(text: string, trigger: 'automatic' | 'manual', form: ManualForm, part: ReplacedPart<unknown>): Message {
  if (trigger === 'automatic') return buildReplacement({ summary: text, lastUserMessage: part.lastUserMessage });
  const summary = text.trim(); // K23
  return form.format === 'tagged' ? buildReplacement({ summary }) : { role: 'user', parts: [{ type: 'text', text: summary }] };
}

function rebuild<Request, Item, Reply>(
  replacement: Message,
  part: ReplacedPart<Item>,
  { view }: CompactionInput<Request, Item, Reply>,
  { adapter, read }: CompactionDeps<Request, Item, Reply>,
): { readings: Reading<Item>[]; view: RequestView<Request, Item> } {
  const readings = adapter.writeMessage(replacement).map(read);
  const items = [...view.leading, ...checkpointsFirst([...readings, ...part.laterSystem]), ...part.tail].map(
    (reading) => reading.item,
  );
  return { readings, view: readRequest(adapter, read, adapter.withItems(view.request, items)) };
}

/** One meter on both sides. What stays word for word is no part of what could be saved; a manual replacement only has to be smaller. */
function requireSaving<Item>(
  { replaced, lastUserMessage }: ReplacedPart<Item>,
  replacement: readonly Reading<Item>[],
  trigger: 'automatic' | 'manual',
  view: RequestView<unknown, unknown>,
  meter: Meter,
): void {
  const { model } = view.context;
  const before = meter.countReadings(replaced, model);
  const after = meter.countReadings(replacement, model);
  const kept = lastUserMessage ? meter.countMessages([{ role: 'user', parts: lastUserMessage }], model) : 0;
  const saving = trigger === 'automatic' ? Math.ceil((before - kept) * leastSaving) : 0;
  const most = before - Math.max(1, saving);
  if (after > most)
    throw new CompactionError('not-smaller', `Expected a replacement of at most ${most} tokens for ${before}, got ${after}.`);
}
