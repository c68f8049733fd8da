import { type Attention, countTopics, isMentioned } from './attention.ts';
import type { Conversation } from './conversation.ts';
import type { Entry } from './fit-sections.ts';
import { jsonLeaves } from './json-leaves.ts';
import { clip, linesOf, toOneLine } from './line-text.ts';
import { rateSpecificity } from './specificity.ts';
import { type ToolUse, toSource } from './tool-use.ts';

const longestFact = 180;
const longestLine = 260;
const longestRead = 800;
/** A fact shares a line with one that ranks at most so much higher: the better one must not carry it. */
const rankStep = 2;
const mostPerResult = 12;
const leastFact = 3.5;
const separator = ' · ';

const modifiers =
  '(?:(?:export|default|declare|pub(?:lic)?(?:\\([^)]*\\))?|private|protected|internal|static|final|readonly|abstract|async|unsafe|inline)\\s+)*';
const constant = new RegExp(
  `^${modifiers}(?:const|let|var|val|#?define)\\s+(?:\\w+\\s+)?([\\w$]+)\\s*(?::[^=]{1,80})?(?:=|\\s)\\s*(\\S.*)$`,
);
const definition = new RegExp(
  `^${modifiers}(?:function\\*?|class|interface|type|enum|def|fn|func|struct|trait|impl|module|namespace)\\s+(?:\\([^)]*\\)\\s*)?([\\w$.]+)`,
);
const assignment = /^["']?([A-Za-z_][\w$.-]{1,60})["']?\s*(?::|=|:=|=>)\s*(\S.*)$/;
const literal = /^(?:-?\d|["'`]|true\b|false\b|null\b|None\b|True\b|False\b|new Set\(\[|\[["'\d])/;
const grepHit = /^((?:[\w@.()[\]-]*[/\\])*[\w@.()[\]-]+\.\w{1,8})[:-]\d+[:-](?:\d+:)?\s*(.*)$/;
const lineNumber = /^\s*\d{1,7}(?:→|\t|[|:]\s?|\s{2})/;
const noise =
  /^(?:import\b|from\b|require\(|\/\/|\/?\*|#(?!define)|<!--|[-=+*_~#|\s]+$|return\b|if\b|else\b|for\b|while\b|@|\}|\)|\])/;

/** A line that a log itself marks as grave, behind its time stamp. */
const graveLogLine = /^[\dTZ:.,+\s[\]/-]{0,40}\W{0,3}(?:ERROR|FATAL|CRITICAL|PANIC)\b/;

const ownForm = /^\[(.*?)\] (.*)$/;

interface Fact {
  at: number;
  source: string;
  text: string;
  rank: number;
  /** What is defined: a newer definition from the same source takes its place. */
  name: string | undefined;
}

/** True for a line of earlier Discoveries that quotes tool output. */
export function isFactLine(line: string): boolean {
  return ownForm.test(line);
}

/**
 * The lines of tool results, and of written files, that name most: definitions with their values, `key: value` lines, search hits,
 * and what the assistant took up later. Each is quoted after its source; short ones of one source share a line.
 */
export function listFacts(conversation: Conversation, attention: Attention): { carried: Entry[]; found: Entry[] } {
  const facts = new Map<string, Fact>();
  const add = (fact: Fact) => {
    const key = `${fact.source}\n${fact.name ?? fact.text}`;
    facts.delete(key);
    facts.set(key, fact);
  };
  for (const line of conversation.earlier.Discoveries) {
    const own = ownForm.exec(line);
    for (const text of own?.[2]?.split(separator) ?? []) add(readFact(-1, own?.[1] ?? '', text, attention));
  }
  for (const use of conversation.uses) for (const fact of factsOf(use, attention)) add(fact);
  const carried = [...facts.values()].filter((fact) => fact.at < 0);
  const found = [...facts.values()].filter((fact) => fact.at >= 0);
  for (const fact of carried) fact.rank += 1;
  for (const fact of found) fact.rank += (2 * (fact.at + 1)) / (conversation.messageCount + 1);
  return { carried: shareLines(carried), found: shareLines(found) };
}

function factsOf(use: ToolUse, attention: Attention): Fact[] {
  const best: Fact[] = [];
  const at = use.answeredAt ?? use.at;
  const showsFiles = use.kind !== 'run';
  const consider = (raw: string) => {
    const line = raw.length > longestRead ? raw.slice(0, longestRead) : raw;
    const hit = grepHit.exec(line);
    const text = hit ? (hit[2] ?? '') : showsFiles ? line.replace(lineNumber, '') : line;
    const fact = readFact(at, toSource(hit?.[1] ?? use.label), text, attention);
    if (hit) fact.rank += 0.5;
    if (fact.rank < leastFact || (best.length === mostPerResult && fact.rank <= (best.at(-1)?.rank ?? 0))) return;
    const place = best.findIndex((other) => other.rank < fact.rank);
    best.splice(place < 0 ? best.length : place, 0, fact);
    if (best.length > mostPerResult) best.pop();
  };
  const leaves = jsonLeaves(use.output);
  for (const line of leaves ?? linesOf(use.output, longestRead)) consider(line);
  for (const text of use.content) for (const line of linesOf(text, longestRead)) consider(line.replace(/^\+(?!\+)/, ''));
  return best;
}

function readFact(at: number, source: string, line: string, attention: Attention): Fact {
  const text = clip(
    toOneLine(line)
      .replace(/\s*[;,{]+$/, '')
      .replaceAll(separator, ' '),
    longestFact,
  );
  const rated = rateLine(text, line.length);
  const { name } = rated;
  // What is indented is seldom more than a local name.
  const rank = rated.rank - (name !== undefined && /^\s/.test(line) ? Math.min(1, rated.rank) : 0);
  if (rank === 0) return { at, source, text, rank, name };
  const taken = isMentioned(text, at, attention) ? 3 : 0;
  return { at, source, text, rank: rank + taken + countTopics(text, attention), name };
}

function rateLine(text: string, length: number): { rank: number; name: string | undefined } {
  if (text.length < 5 || noise.test(text)) return { rank: 0, name: undefined };
  const long = length > longestFact ? 2 : 0;
  if (graveLogLine.test(text)) return { rank: 6 - long, name: undefined };
  const value = constant.exec(text);
  if (value) return { rank: rateValue(value[2] ?? '') + exported(text) - long, name: value[1] };
  const defined = definition.exec(text);
  if (defined) return { rank: (/^type [\w$]+$/.test(text) ? 1 : 3.5) + exported(text) - long, name: defined[1] };
  const pair = assignment.exec(text);
  const specificity = rateSpecificity(text) / 2;
  if (pair) return { rank: ratePair(pair[2] ?? '') + specificity - long, name: undefined };
  return { rank: Math.max(0.1, specificity - long), name: undefined };
}

/** `name: value`, which a value with a number makes worth more. */
function ratePair(value: string): number {
  if (literal.test(value)) return 3;
  return /\d/.test(value) ? 2 : 1.5;
}

function rateValue(value: string): number {
  if (/^-?\d/.test(value)) return 7;
  return literal.test(value) ? 6 : 3;
}

function exported(text: string): number {
  return /^(?:export|pub)/.test(text) ? 1 : 0;
}

/** The best facts of each source share lines, best first; the lines keep the order in which the sources were seen. */
function shareLines(facts: readonly Fact[]): Entry[] {
  const bySource = new Map<string, Fact[]>();
  for (const fact of facts) {
    const known = bySource.get(fact.source);
    if (known) known.push(fact);
    else bySource.set(fact.source, [fact]);
  }
  const entries: Entry[] = [];
  for (const [source, ofSource] of bySource) {
    let open: Entry = { at: -1, text: '', rank: Number.POSITIVE_INFINITY };
    for (const fact of ofSource.sort((left, right) => right.rank - left.rank)) {
      if (open.rank - fact.rank <= rankStep && open.text.length + separator.length + fact.text.length <= longestLine)
        open.text += separator + fact.text;
      else {
        open = { at: fact.at, text: `[${source}] ${fact.text}`, rank: fact.rank };
        entries.push(open);
      }
    }
  }
  return entries;
}
