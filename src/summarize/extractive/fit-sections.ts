import type { TokenCounter } from '../../budget/token-counter.ts';
import { cutBefore } from '../../history/well-formed.ts';
import { summarySections } from '../../prompt/guidance.ts';
import { emptySection, quotationNote, type Section } from './earlier-summary.ts';

/** What must stay, in the order in which it is given up last: `next` longest, `request` first. */
const mustOrder = ['next', 'constraint', 'error', 'path', 'request'] as const;

/** One line of a summary. The higher its rank, the sooner it gets room. */
export interface Entry {
  text: string;
  /** Position of the message that it comes from; -1 where it was carried over from an earlier summary. */
  at: number;
  rank: number;
  must?: (typeof mustOrder)[number];
}

/** Entries of a section that compete for a share of the room, in the order in which they are written. */
export interface Pool {
  section: Section;
  /** Share of what the entries that must stay leave over, 0 to 1. */
  share: number;
  /** Pools with the same word compete by rank for what the shares left over; the words take turns in the order of the pools. */
  contest: string;
  entries: readonly Entry[];
}

export interface Fit {
  maxTokens: number;
  countTokens: TokenCounter;
  /** New entries that may be left out are added only up to this many code units: a short conversation gets a shorter summary. */
  newLength: number;
  /** Written paths that earlier summaries left out already. */
  omittedPaths: number;
}

/** A pool looks no further after so many entries that are too large for the room left: bounded work, little waste. */
const mostMisses = 12;

/**
 * Writes the sections within the cap. While there is room for all five headings and every entry that must stay, those are whole, and
 * each pool fills its share with its highest ranks; the room left over goes to the contests in order.
 *
 * Where they do not fit, written paths are left out from the oldest, and counted, until they take half of what the others leave. Where that
 * is not enough, only what must stay is written, under the headings that it needs, in this order while it fits: the next
 * action, the first constraint, the last error, the written paths from the newest to the oldest, the newest request. Text that does
 * not fit is cut, a path is left out and counted. Where not even a heading fits, the first of them stands alone, cut to the cap.
 *
 * The cap is never exceeded, whatever the counter does: the whole text is counted in the end.
 */
export function fitSections(pools: readonly Pool[], fit: Fit): string {
  return writeAll(pools, fit) ?? writeAll(...withFewerPaths(pools, fit)) ?? writeWhatMust(pools, fit);
}

/** Undefined where what must stay does not fit under the five headings. */
function writeAll(pools: readonly Pool[], fit: Fit): string | undefined {
  const chosen = chooseEntries(pools, fit);
  return chosen && writeChosen(pools, chosen, fit);
}

function withFewerPaths(pools: readonly Pool[], fit: Fit): [Pool[], Fit] {
  let room = fit.maxTokens - fit.countTokens(write(new Map(), true, fit.omittedPaths + 1));
  for (const { entries } of pools)
    for (const entry of entries) if (entry.must && entry.must !== 'path') room -= fit.countTokens(lineOf(entry));
  room /= 2;
  let omittedPaths = fit.omittedPaths;
  const fewer = pools.map((pool) => {
    const paths = new Set<Entry>();
    for (const entry of pool.entries.toReversed()) {
      if (entry.must !== 'path') continue;
      if (room > 0) room -= fit.countTokens(lineOf(entry));
      if (room > 0) paths.add(entry);
      else omittedPaths++;
    }
    return { ...pool, entries: pool.entries.filter((entry) => entry.must !== 'path' || paths.has(entry)) };
  });
  return [fewer, { ...fit, omittedPaths }];
}

/** The entries in the order in which they were chosen; undefined where those that must stay do not fit. */
function chooseEntries(
  pools: readonly Pool[],
  { maxTokens, countTokens, newLength, omittedPaths }: Fit,
): Map<Entry, number> | undefined {
  const chosen = new Map<Entry, number>();
  let room = maxTokens - countTokens(write(new Map(), true, omittedPaths));
  for (const { entries } of pools)
    for (const entry of entries)
      if (entry.must) {
        const cost = countTokens(lineOf(entry));
        chosen.set(entry, cost);
        room -= cost;
        if (room < 0) return undefined;
      }
  if (room < 0) return undefined;

  const costs = new Map<Entry, number>();
  let length = 0;
  const fill = (queue: readonly Entry[], allowance: number) => {
    let left = Math.min(allowance, room);
    let misses = 0;
    for (const entry of queue) {
      if (left <= 0 || misses === mostMisses) break;
      if (chosen.has(entry)) continue;
      const newText = entry.at < 0 ? 0 : entry.text.length;
      if (length + newText > newLength && newText > 0) continue;
      const cost = costs.get(entry) ?? countTokens(lineOf(entry));
      costs.set(entry, cost);
      if (cost > left) {
        misses++;
        continue;
      }
      chosen.set(entry, cost);
      left -= cost;
      room -= cost;
      length += newText;
    }
  };
  const shared = room;
  for (const { share, entries } of pools) fill(byRank(entries), Math.floor(share * shared));
  for (const contest of new Set(pools.map((pool) => pool.contest)))
    fill(byRank(pools.filter((pool) => pool.contest === contest).flatMap((pool) => pool.entries)), room);
  return chosen;
}

function byRank(entries: readonly Entry[]): Entry[] {
  return entries.filter((entry) => !entry.must).sort((left, right) => right.rank - left.rank);
}

/** The text of what was chosen. A counter whose parts do not add up may demand that the last choices go again. */
function writeChosen(
  pools: readonly Pool[],
  chosen: Map<Entry, number>,
  { maxTokens, countTokens, omittedPaths }: Fit,
): string | undefined {
  const optional = [...chosen].filter(([entry]) => !entry.must);
  for (let least = 1; ; least *= 2) {
    const text = write(linesBySection(pools, chosen), true, omittedPaths);
    let excess = countTokens(text) - maxTokens;
    if (excess <= 0) return text;
    if (optional.length === 0) return undefined;
    for (let dropped = 0; optional.length > 0 && (excess > 0 || dropped < least); dropped++) {
      const [entry, cost] = optional.pop() ?? [];
      if (entry) chosen.delete(entry);
      excess -= cost ?? 0;
    }
  }
}

function writeWhatMust(pools: readonly Pool[], { maxTokens, countTokens, omittedPaths }: Fit): string {
  const fits = (text: string) => countTokens(text) <= maxTokens;
  const musts = mustOrder.flatMap((must) => {
    const found = pools.flatMap(({ section, entries }) =>
      entries.filter((entry) => entry.must === must).map((entry) => ({ section, entry })),
    );
    return must === 'path' ? found.reverse() : found;
  });
  const kept: typeof musts = [];
  const headed = new Set<Section>();
  let room = maxTokens;
  let omitted = omittedPaths;
  let misses = 0;
  for (const item of musts) {
    const { section } = item;
    let entry: Entry | undefined;
    if (misses < mostMisses) {
      const heading = headed.has(section) ? 0 : countTokens(`## ${section}\n\n`);
      const cost = heading + countTokens(lineOf(item.entry));
      if (cost <= room) entry = item.entry;
      else {
        misses++;
        if (item.entry.must !== 'path') entry = cutEntry(item.entry, room - heading, countTokens);
      }
      if (entry) {
        kept.push({ section, entry });
        headed.add(section);
        room -= Math.min(cost, room);
      }
    }
    if (!entry && item.entry.must === 'path') omitted++;
  }
  for (let dropped = 1; kept.length > 0; dropped *= 2) {
    const lines = new Map<Section, string[]>();
    for (const { section, entry } of kept) {
      const known = lines.get(section);
      if (known) known.push(entry.text);
      else lines.set(section, [entry.text]);
    }
    const counted = write(lines, false, omitted);
    if (fits(counted)) return counted;
    // Rather the only path than the number of the others.
    const uncounted = write(lines, false, 0);
    if ((lines.get('Relevant Files') ?? []).length <= 1 && fits(uncounted)) return uncounted;
    omitted += kept.splice(-dropped).filter(({ entry }) => entry.must === 'path').length;
  }
  return cutToFit(musts[0]?.entry.text ?? '', maxTokens, countTokens);
}

function linesBySection(pools: readonly Pool[], chosen: ReadonlyMap<Entry, number>): Map<Section, string[]> {
  const lines = new Map<Section, string[]>();
  for (const { section, entries } of pools) {
    const known = lines.get(section) ?? [];
    for (const entry of entries) if (chosen.has(entry)) known.push(entry.text);
    lines.set(section, known);
  }
  return lines;
}

function write(lines: ReadonlyMap<Section, readonly string[]>, allHeadings: boolean, omittedPaths: number): string {
  const parts: string[] = [];
  for (const section of summarySections) {
    const own = (lines.get(section) ?? []).map((text) => `- ${text}`);
    if (section === 'Relevant Files' && omittedPaths > 0)
      own.push(`- (${omittedPaths} more written path${omittedPaths === 1 ? '' : 's'} left out)`);
    if (own.length === 0 && !allHeadings) continue;
    if (section === 'Discoveries' && allHeadings) own.unshift(quotationNote);
    parts.push(`## ${section}\n${own.length > 0 ? own.join('\n') : `- ${emptySection}`}`);
  }
  return parts.join('\n\n');
}

function lineOf(entry: Entry): string {
  return `- ${entry.text}\n`;
}

function cutEntry(entry: Entry, room: number, countTokens: TokenCounter): Entry | undefined {
  const text = cutToFit(entry.text, room - countTokens('- \n'), countTokens);
  return text.length < 8 ? undefined : { ...entry, text };
}

/** The longest beginning, cut between code points, that is counted within the room: a binary search, so some ten counts. */
function cutToFit(text: string, room: number, countTokens: TokenCounter): string {
  if (room >= 1 && countTokens(text) <= room) return text;
  let fitting = 0;
  let tooLong = text.length;
  while (tooLong - fitting > 1) {
    const middle = Math.floor((fitting + tooLong) / 2);
    if (countTokens(`${text.slice(0, cutBefore(text, middle))}…`) <= room) fitting = middle;
    else tooLong = middle;
  }
  const cut = fitting === 0 ? '' : `${text.slice(0, cutBefore(text, fitting))}…`;
  return cut !== '' && countTokens(cut) <= room ? cut : '';
}
