import type { ManualForm } from './ask-summary.ts';
import type { ContextBudget } from './budget/context-budget.ts';
import { CompactionError } from './errors.ts';
import { fingerprint } from './history/fingerprint.ts';
import { messagesOf, type Reading } from './history/reading.ts';
import type { ReplacedPart } from './history/replaced.ts';
import { userParts } from './history/turns.ts';
import { endMark, type Mark, type RequestView } from './history/view.ts';
import { makeWellFormed } from './history/well-formed.ts';
import type { Message } from './message.ts';
import { buildReplacement } from './prompt/replacement.ts';
import { type RebuildDeps, rebuildRequest } from './rebuild.ts';
import { type RetainDeps, type RetainPlace, retainVerbatim } from './retain.ts';
import { findShortfall, mostAfter, type Offer, requireSaving, type SavingRules } from './saving.ts';
import type { Summary } from './summarize/summarizer.ts';

export interface ReplaceDeps<Request, Item, Reply>
  extends RebuildDeps<Request, Item, Reply>,
    RetainDeps<Request, Item, Reply>,
    SavingRules {
  /** What the compacted request may have at most, as a part of the input budget; absent: anything that is smaller. */
  target?: number | undefined;
}

/** Where a summary is to stand. */
export interface ReplacePlace<Request, Item> extends Omit<RetainPlace<Request, Item>, 'room'> {
  trigger: 'automatic' | 'manual';
  form: ManualForm;
  budget: ContextBudget;
  tokensBefore: number;
}

/** What takes the place of a conversation, and the request with it. */
export interface Replaced<Request, Item> extends Offer<Item> {
  /** Fingerprints of what the library wrote, by which it is known again. */
  fingerprints: readonly string[];
  view: RequestView<Request, Item>;
  /** The end of the replacement in the view, and the end of what was looked at. */
  rebuilt: Mark;
  seen: Mark;
  /** As the meter counts it, and as the provider does where it tells: the two differ in what only the provider can read. */
  measured: number;
  tokensAfter: number;
}

/**
 * Puts a summary in the place of the conversation. Changes nothing.
 *
 * @throws CompactionError `not-smaller`, `over-target`.
 */
export function replaceBySummary<Request, Item, Reply>(
  summary: Summary<Item>,
  part: ReplacedPart<Item>,
  place: ReplacePlace<Request, Item>,
  deps: ReplaceDeps<Request, Item, Reply>,
): Replaced<Request, Item> {
  const most = mostAfter(deps, place.budget);
  const alone = arrange(summary, part, [], place, deps);
  // What the provider made stands as it is, whole.
  const kept = summary.items ? undefined : retainVerbatim(part, { ...place, room: most - alone.tokensAfter }, deps);
  const whole = kept && arrange(summary, kept.part, kept.retained, place, deps);
  // What is kept makes way, too, where hardly anything would be replaced beside it.
  const isWorthIt = whole && !findShortfall(summary, whole, place, deps);
  const replaced = isWorthIt ? whole : alone;
  if (!isWorthIt) requireSaving(summary, alone, place, deps);
  if (deps.target !== undefined && replaced.tokensAfter > most)
    throw new CompactionError(
      'over-target',
      `Expected a compacted request of at most ${most} tokens, got ${replaced.tokensAfter}.`,
    );
  return replaced;
}

function arrange<Request, Item, Reply>(
  summary: Summary<Item>,
  part: ReplacedPart<Item>,
  retained: readonly Reading<Item>[],
  place: ReplacePlace<Request, Item>,
  deps: ReplaceDeps<Request, Item, Reply>,
): Replaced<Request, Item> {
  const { adapter, read, meter } = deps;
  const { view } = place;
  const written = summary.items ? [] : adapter.writeMessage(writeSummary(summary.text, part, place)).map(read);
  const given = summary.items?.map(read) ?? [];
  const saidAgain = summary.items ? sayAgain(given, part, deps) : [];
  const replacement = [...written, ...given, ...saidAgain, ...retained];
  const conversation = part.tail.slice(0, part.tail.length - part.reminders);
  const reminders = part.tail.slice(conversation.length);
  const parts = { leading: view.leading, replacement, laterSystem: part.laterSystem, rebased: conversation, rest: reminders };
  const { view: rebuilt, rebased } = rebuildRequest(view.request, parts, deps);
  const measured = meter.measure(rebuilt).tokens;
  return {
    part,
    readings: replacement,
    retained,
    fingerprints: written.map((reading) => reading.fingerprint),
    view: rebuilt,
    rebuilt: endMark(rebuilt, rebased + reminders.length),
    seen: endMark(rebuilt, reminders.length),
    measured,
    tokensAfter:
      summary.items && summary.tokens !== undefined
        ? measured - meter.countReadings(given, view.context.model) + summary.tokens
        : measured,
  };
}

/** Well-formed for the store, too: what is sent is. B140 */
function writeSummary<Request, Item>(
  text: string,
  { lastUserMessage }: ReplacedPart<Item>,
  { trigger, form }: ReplacePlace<Request, Item>,
): Message {
  if (trigger === 'automatic') return makeWellFormed(buildReplacement({ summary: text, lastUserMessage }));
  const summary = text.trim(); // K23
  return makeWellFormed(
    form.format === 'tagged' ? buildReplacement({ summary }) : { role: 'user', parts: [{ type: 'text', text: summary }] },
  );
}

/** The newest input of the user, where what the provider made does not hold it word for word. */
function sayAgain<Request, Item, Reply>(
  given: readonly Reading<Item>[],
  { lastUserMessage }: ReplacedPart<Item>,
  { adapter, read }: ReplaceDeps<Request, Item, Reply>,
): Reading<Item>[] {
  if (!lastUserMessage) return [];
  const said = fingerprint(lastUserMessage);
  const isHeld = messagesOf(given).some((message) => message.role === 'user' && fingerprint(userParts(message)) === said);
  return isHeld ? [] : adapter.writeMessage(makeWellFormed({ role: 'user', parts: lastUserMessage })).map(read);
}
