import { type CutOptions, cutItem } from './preview-items.ts';
import type { SizedItem } from './protocol-groups.ts';
import { findCallUnits } from './retained/call-units.ts';
import { importanceOf } from './retained/importance.ts';
import { hasUserContent, type IsUserInput, userParts } from './turns.ts';

/** How much is retained beside a summary, at most. */
export interface RetainedSize {
  tokens: number;
  /** Native messages, results of tools among them. */
  count: number;
}

export interface RetainedOptions<Item> extends CutOptions<Item> {
  /** Must be false for an earlier replacement: what it holds is in the summary. */
  isUserInput: IsUserInput;
}

/** An item and its place in the conversation. */
interface Placed<Item> {
  place: number;
  sized: SizedItem<Item>;
}

/**
 * The items that matter most, in their order: first the user's words, and where these do not all fit a shortened copy of the next; then
 * calls of tools, always with all of their results. What is not shortened is the very same item; only words beside results that are
 * not kept are a copy without these. Together they never exceed `size`. V52–V55
 *
 * @example
 * selectRetained(items.slice(0, tail.start), { tokens: 20_000, count: 6 }, { write, countItems, countTokens, isUserInput });
 */
export function selectRetained<Item>(
  items: readonly SizedItem<Item>[],
  size: RetainedSize,
  options: RetainedOptions<Item>,
): SizedItem<Item>[] {
  if (!(size.tokens > 0 && size.count > 0)) return [];
  const placed = items.map((sized, place) => ({ place, sized }));
  const kept = new Map<number, SizedItem<Item>>();
  const left = { ...size };

  function keep(chosen: readonly Placed<Item>[]): boolean {
    const tokens = chosen.reduce((sum, { place, sized }) => sum + sized.tokens - (kept.get(place)?.tokens ?? 0), 0);
    const count = chosen.reduce((sum, { place, sized }) => sum + sized.items.length - (kept.get(place)?.items.length ?? 0), 0);
    if (tokens > left.tokens || count > left.count) return false;
    left.tokens -= tokens;
    left.count -= count;
    for (const { place, sized } of chosen) kept.set(place, sized);
    return true;
  }

  const said = placed.filter(({ sized }) => saysSomething(sized, options.isUserInput));
  for (const { place, sized } of rank(said, (one) => scoreOf(one, items.length))) {
    if (left.count < 1) break;
    const words = takeWords(sized, options);
    if (keep([{ place, sized: words }])) continue;
    const shortened = cutItem(words, left.tokens, options);
    if (shortened.messages.some(hasUserContent)) keep([{ place, sized: shortened }]);
    break;
  }

  const units = findCallUnits(items).map((places) => places.flatMap((place) => placed[place] ?? []));
  for (const unit of rank(units, (members) => highest(members.map((one) => scoreOf(one, items.length))))) {
    if (left.count < 1) break;
    keep(unit);
  }
  return [...kept].sort(([one], [other]) => one - other).map(([, sized]) => sized);
}

/** Highest score first; where it is the same, in their order. */
function rank<Candidate>(candidates: readonly Candidate[], score: (candidate: Candidate) => number): Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, score: score(candidate) }))
    .sort((one, other) => other.score - one.score)
    .map(({ candidate }) => candidate);
}

/** V53 */
function scoreOf({ place, sized }: Placed<unknown>, total: number): number {
  return highest(sized.messages.map(importanceOf)) + place / total;
}

function highest(scores: readonly number[]): number {
  return scores.reduce((most, score) => Math.max(most, score), 0);
}

function saysSomething({ messages }: SizedItem<unknown>, isUserInput: IsUserInput): boolean {
  return messages.some((message) => hasUserContent(message) && isUserInput(message));
}

/** The item, or what the user says beside results. */
function takeWords<Item>(sized: SizedItem<Item>, { write, countItems, isUserInput }: RetainedOptions<Item>): SizedItem<Item> {
  if (!sized.messages.some(({ parts }) => parts.some(({ type }) => type === 'toolResult'))) return sized;
  const messages = sized.messages
    .filter((message) => hasUserContent(message) && isUserInput(message))
    .map((message) => ({ ...message, parts: userParts(message) }));
  const items = messages.flatMap((message) => write(message));
  return { items, messages, tokens: countItems(items) };
}
