import type { ContextBudget } from './budget/context-budget.ts';
import type { Meter } from './budget/meter.ts';
import { CompactionError } from './errors.ts';
import { messagesOf, type Reading } from './history/reading.ts';
import type { ReplacedPart } from './history/replaced.ts';
import type { RequestView } from './history/view.ts';
import type { Message, Part } from './message.ts';
import type { Summary } from './summarize/summarizer.ts';

/** What would take the place of a part of a conversation. */
export interface Offer<Item> {
  part: ReplacedPart<Item>;
  readings: readonly Reading<Item>[];
  /** Those of them that are kept word for word. */
  retained: readonly Reading<Item>[];
}

export interface SavingRules {
  meter: Meter;
  /** Part of what is replaced that an automatic compaction must save. */
  minimumSaving: number;
}

/** The conversation that would be compacted. */
export interface SavingPlace<Item> {
  view: RequestView<unknown, Item>;
  trigger: 'automatic' | 'manual';
  tokensBefore: number;
}

interface Shortfall {
  before: number;
  most: number;
  after: number;
}

/**
 * By how much an offer fails to save enough; undefined where it does not. One meter on both sides. What stays word for word is no part of
 * what could be saved; a manual replacement only has to be smaller.
 */
export function findShortfall<Item>(
  summary: Summary<Item>,
  { part, readings, retained }: Offer<Item>,
  { view, trigger, tokensBefore }: SavingPlace<Item>,
  { meter, minimumSaving }: SavingRules,
): Shortfall | undefined {
  const { model } = view.context;
  const given = summary.items ? sizeGiven(summary.items.length, summary.tokens, readings) : 'counted';
  if (given === 'unknown') return undefined;
  const after = given === 'counted' ? meter.countReadings(readings, model) : given;
  const before = sizeReplaced(part, view, tokensBefore, meter);
  const said = part.lastUserMessage ? meter.countMessages([asUser(part.lastUserMessage)], model) : 0;
  const kept = said + meter.countReadings(retained, model);
  const saving = trigger === 'automatic' ? Math.ceil((before - kept) * minimumSaving) : 0;
  const most = before - Math.max(1, saving);
  return after > most ? { before, most, after } : undefined;
}

/**
 * @throws CompactionError `not-smaller`
 */
export function requireSaving<Item>(
  summary: Summary<Item>,
  offer: Offer<Item>,
  place: SavingPlace<Item>,
  rules: SavingRules,
): void {
  const shortfall = findShortfall(summary, offer, place, rules);
  if (!shortfall) return;
  const { before, most, after } = shortfall;
  throw new CompactionError('not-smaller', `Expected a replacement of at most ${most} tokens for ${before}, got ${after}.`);
}

/** What the compacted request should have at most, in tokens. */
export function mostAfter({ target }: { target?: number | undefined }, { inputBudget, threshold }: ContextBudget): number {
  return target === undefined ? threshold - 1 : Math.floor(inputBudget * target);
}

/** What will stand beside a summary, in tokens: what surrounds the conversation, and what stays of it. */
export function sizeBeside<Item>(
  { lastUserMessage, laterSystem, tail }: ReplacedPart<Item>,
  view: RequestView<unknown, Item>,
  meter: Meter,
): number {
  const around = meter.measure({ ...view, body: [...laterSystem, ...tail], chain: [''] }).tokens;
  return around + (lastUserMessage ? meter.countMessages([asUser(lastUserMessage)], view.context.model) : 0);
}

/** What only the provider can read is known by what it says of it, or not at all. */
function sizeGiven(
  count: number,
  tokens: number | undefined,
  readings: readonly Reading<unknown>[],
): number | 'counted' | 'unknown' {
  if (tokens !== undefined) return tokens;
  const opaque = messagesOf(readings.slice(0, count)).some(({ parts }) => parts.some(({ type }) => type === 'native'));
  return opaque ? 'unknown' : 'counted';
}

/** Tokens of what a replacement stands for. What the server holds is known by usage alone: there it is the whole without the rest. */
export function sizeReplaced<Item>(
  { replaced, laterSystem, tail }: ReplacedPart<Item>,
  view: RequestView<unknown, Item>,
  whole: number,
  meter: Meter,
): number {
  if (!view.held) return meter.countReadings(replaced, view.context.model);
  return whole - meter.measure({ ...view, body: [...laterSystem, ...tail], chain: [''] }).tokens;
}

function asUser(parts: readonly Part[]): Message {
  return { role: 'user', parts };
}
