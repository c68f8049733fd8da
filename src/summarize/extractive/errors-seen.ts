import type { Conversation } from './conversation.ts';
import type { Entry } from './fit-sections.ts';
import { clip, linesOf, toOneLine } from './line-text.ts';
import type { ToolUse } from './tool-use.ts';

const longestError = 400;
const mostErrors = 8;

const named =
  /^\W{0,6}(?:(?:[\w.$-]+\.)?\w*(?:Error|Exception|Panic|Fault)\b(?:\s*\[\w+\])?\s*[:(]|(?:error|fatal|panic|npm ERR!|ERROR)(?:\[\w+\])?\s*[:!]|E\s{2,}\S)|\berror (?:TS|CS|C|E)\d+|^thread '.*' panicked/i;
const likely =
  /\b(?:error|exception|failed|failure|FAIL|fatal|panic(?:ked)?|traceback|segmentation fault|assert(?:ion)?)\b|✗|✘|\bnot ok\b/i;
const possible =
  /\b(?:not found|cannot|can['’]t|could not|couldn['’]t|no such|denied|refused|timed? ?out|invalid|unexpected|undefined|missing|unable|does not exist|doesn['’]t|conflict|unknown|E[A-Z]{4,})\b/;
const emptyWords =
  /^(?:traceback \(most recent.*|error:? ?\(none\)|(?:command |process )?(?:exited|failed)? ?(?:with )?(?:exit )?(?:code|status):? ?-?\d+\.?|<\/?[\w-]+>|\W*(?:error|fatal|exception|failed|output)\W*|\(no output\))$/i;
const passing = /\b(?:passed|ok|success(?:ful)?)\W*$/i;
const noFailures = /\b0 (?:errors?|failed|failures?)\b/i;
const failures = /\b[1-9]\d* (?:errors?|failed|failures?)\b/i;
const exitCode = /\b(?:exit(?:ed)?(?: with)?(?: exit)?[ _]?(?:code|status)|return ?code)["'>:= ]{1,4}(-?\d+)\b/i;
const ownForm = /^Error \[(.*?)\] (.*)$/;

/** The exit code that a result tells in its first or last words. */
export function exitCodeOf(output: string): number | undefined {
  const match = exitCode.exec(output.slice(0, 300)) ?? exitCode.exec(output.slice(-300));
  return match ? Number(match[1]) : undefined;
}

/** True where the result says itself that it failed. */
export function hasFailed(use: ToolUse): boolean {
  if (use.isError === true) return true;
  // A file that is shown may speak of exit codes.
  const code = use.kind === 'run' || use.command !== undefined ? exitCodeOf(use.output) : undefined;
  return code !== undefined && code !== 0;
}

/** True for a line of earlier Discoveries that quotes an error. */
export function isErrorLine(line: string): boolean {
  return ownForm.test(line);
}

/** Errors in order, word for word on one line each, with their source. The last one must stay. */
export function listErrors({ earlier, uses, messageCount }: Conversation): Entry[] {
  const errors = new Map<string, { at: number; text: string }>();
  const add = (at: number, text: string, key: string) => {
    errors.delete(key);
    errors.set(key, { at, text });
  };
  for (const line of earlier.Discoveries) {
    const own = ownForm.exec(line);
    if (own) add(-1, line, own[2] ?? line);
  }
  for (const use of uses.filter((use) => use.answeredAt !== undefined)) {
    const error = errorOf(use);
    if (error !== undefined) add(use.answeredAt ?? use.at, `Error [${use.label}] ${error}`, error);
  }
  const newest = [...errors.values()].slice(-mostErrors);
  const last = newest.at(-1);
  return newest.map(
    (error): Entry => ({
      ...error,
      rank: 3 + (3 * (error.at + 1)) / (messageCount + 1),
      ...(error === last ? { must: 'error' } : {}),
    }),
  );
}

/** The line of a failed result that says most; of a result that has not failed only a line that is plainly an error. */
export function errorOf(use: ToolUse): string | undefined {
  const failed = hasFailed(use);
  // What a file or a search shows is no error of the tool.
  if (!failed && use.kind !== 'run') return undefined;
  let best: string | undefined;
  let bestRate = failed ? -1 : 3;
  for (const line of linesOf(use.output, longestError * 2)) {
    const rate = named.test(line) ? 4 : likely.test(line) ? 2 : possible.test(line) ? 1 : passing.test(line) ? -1 : 0;
    if (rate < bestRate || line.trim() === '' || isEmptyWords(line.trim())) continue;
    best = line;
    bestRate = rate;
  }
  const text = clip(toOneLine(best ?? ''), longestError);
  if (text !== '') return text;
  // A search that finds nothing exits with 1.
  return failed && use.kind === 'run' ? 'failed without a word' : undefined;
}

function isEmptyWords(line: string): boolean {
  return (
    emptyWords.test(line) ||
    (line.length < 60 && exitCodeOf(line) !== undefined) ||
    (noFailures.test(line) && !failures.test(line))
  );
}
