import { askForSummary, type SummaryDeps, type SummaryInput } from './ask-summary.ts';
import { CompactionError } from './errors.ts';
import type { Omitted } from './events.ts';
import { messagesOf } from './history/reading.ts';
import { repairItems } from './history/repair.ts';
import { divide, type RecognizeReplacement } from './history/replaced.ts';
import type { IsUserInput } from './history/turns.ts';
import type { Mark, RequestView } from './history/view.ts';
import type { Message } from './message.ts';
import { redactItems } from './redact.ts';
import { type ReplaceDeps, replaceBySummary } from './replace.ts';
import { mostAfter } from './saving.ts';

/** What a compaction needs to know of its surroundings. */
export interface CompactionDeps<Request, Item, Reply>
  extends SummaryDeps<Request, Item, Reply>,
    ReplaceDeps<Request, Item, Reply> {
  isUserInput: IsUserInput;
}

export interface CompactionInput<Request, Item, Reply> extends Omit<SummaryInput<Request, Item, Reply>, 'request' | 'target'> {
  /** How many items at the end of the view are those of the caller's own conversation. */
  own: number;
}

/** A finished summary in its place, not yet committed or installed. */
export interface Compaction<Request, Item> {
  /** The messages that take the place of the conversation. */
  replacement: readonly Message[];
  /** The same as native items. */
  items: readonly Item[];
  /** Fingerprints of what the library wrote, by which it is known again. */
  fingerprints: readonly string[];
  /** How many items at the end stay behind the replacement. */
  kept: number;
  /** How many of these are reminders of the host, made anew for each request. */
  reminders: number;
  /** The request with the replacement in it. */
  view: RequestView<Request, Item>;
  /** The end of the replacement in the view, and the end of what was looked at. */
  rebuilt: Mark;
  seen: Mark;
  tokensBefore: number;
  /** As the provider counts it where it tells, else as measured. */
  tokensAfter: number;
  /** Size of the view by the meter of all other requests. */
  measured: number;
  /** Why the summary request could not repeat the parent's prefix; empty where it did. */
  changed: readonly string[];
  /** What the summary could not be asked about. */
  omitted?: Omitted | undefined;
  repairs: readonly string[];
}

/**
 * One compaction, from plan to replacement: divides the history, asks for the summary, accepts it or throws. Changes nothing.
 *
 * @throws CompactionError, and whatever `signal` was aborted with.
 */
export async function compactView<Request, Item, Reply>(
  input: CompactionInput<Request, Item, Reply>,
  deps: CompactionDeps<Request, Item, Reply>,
): Promise<Compaction<Request, Item>> {
  const { meter } = deps;
  const { trigger, view } = input;
  const part = divide(view, { isUserInput: deps.isUserInput, recognize: input.recognize });
  // A manual summary in the middle of a run holds what the user said: the run goes on being compacted.
  if (trigger === 'automatic' && !part.lastUserMessage && !part.saidBefore)
    throw new CompactionError('no-user-message', 'Automatic compaction requires a user message.'); // K20
  await meter.load();
  const tokensBefore = meter.measure(view, input.anchor).tokens;
  const { request, repairs, because } = repairedRequest(view, input.recognize, deps);
  const summary = await askForSummary({ ...input, request, target: conversationAfter(input, deps) }, deps);
  const { changed = [], omitted } = summary;
  // A manual summary says itself what the user said. K23
  const lastUserMessage = trigger === 'automatic' && deps.retain.latestUserMessage ? part.lastUserMessage : undefined;
  const replaced = replaceBySummary(summary, { ...part, lastUserMessage }, { ...input, tokensBefore }, deps);
  return {
    replacement: messagesOf(replaced.readings),
    items: replaced.readings.map((reading) => reading.item),
    fingerprints: replaced.fingerprints,
    kept: replaced.part.tail.length,
    reminders: part.reminders,
    view: replaced.view,
    rebuilt: replaced.rebuilt,
    seen: replaced.seen,
    tokensBefore,
    tokensAfter: replaced.tokensAfter,
    measured: replaced.measured,
    changed: [...changed, ...because],
    omitted,
    repairs,
  };
}

/** What the conversation may have once it is compacted: within the target, and enough saved. */
function conversationAfter<Request, Item, Reply>(
  { view, budget }: CompactionInput<Request, Item, Reply>,
  deps: CompactionDeps<Request, Item, Reply>,
): number {
  const conversation = deps.meter.countReadings(view.body, view.context.model);
  const around = deps.meter.measure(view).tokens - conversation;
  return Math.min(mostAfter(deps, budget) - around, Math.floor(conversation * (1 - deps.minimumSaving)));
}

/** The request to summarize: the very same one, unless the provider would refuse it, or something in it must not be read. */
function repairedRequest<Request, Item, Reply>(
  view: RequestView<Request, Item>,
  recognize: RecognizeReplacement,
  deps: CompactionDeps<Request, Item, Reply>,
): { request: Request; repairs: readonly string[]; because: readonly string[] } {
  const { items: sound, repairs } = repairItems([...view.leading, ...view.body], deps, { closeOpen: true });
  const items = redactItems(sound, recognize, deps);
  const isRedacted = items !== sound;
  return {
    request: repairs.length > 0 || isRedacted ? deps.adapter.withItems(view.request, items) : view.request,
    repairs,
    because: [...(repairs.length > 0 ? ['repaired history'] : []), ...(isRedacted ? ['redacted history'] : [])],
  };
}
