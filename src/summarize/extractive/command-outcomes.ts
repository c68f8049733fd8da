import type { Conversation } from './conversation.ts';
import { errorOf, exitCodeOf, hasFailed } from './errors-seen.ts';
import type { Entry } from './fit-sections.ts';
import { clip, linesOf, toOneLine } from './line-text.ts';
import type { ToolUse } from './tool-use.ts';

const longestCommand = 200;
const longestOutcome = 160;

const testLine =
  /\b\d+\s+(?:tests?\s+)?(?:passed|failed|passing|failing|failures?|errors?|skipped|succeeded)\b|\btests?:?\s+\d+|\btest result:|^(?:PASS|FAIL|OK|FAILED|ok|not ok)\b|\bBUILD (?:SUCCESS|FAIL)|\bcoverage\b.*%|\b(?:pass|fail)\s+\d+\b/i;
const committed = /^\[\S+(?: \(root-commit\))? [\da-f]{7,}\]/;
const weighty =
  /\b(?:test|vitest|jest|pytest|build|compile|tsc|make|commit|push|merge|rebase|checkout|install|publish|deploy|release|migrate|lint|check)\b/i;

/** The newest outcome of each command and of each other action that changes something, in order. */
export function listOutcomes({ earlier, uses, messageCount }: Conversation): Entry[] {
  const outcomes = new Map<string, Entry>();
  for (const line of earlier.Accomplished) {
    const key = commandKey(line);
    if (key !== undefined) outcomes.set(key, { at: -1, text: line, rank: rateOutcome(line) });
  }
  for (const use of uses) {
    if (use.kind !== 'run' && !isWorthTelling(use)) continue;
    // A plan is told as one; a result without its call tells no action.
    if (use.plan !== undefined || use.at === use.answeredAt) continue;
    const command = clip(toOneLine(use.command === undefined ? use.action : withoutHeredoc(use.command)), longestCommand);
    const text = `Ran \`${command}\`: ${outcomeOf(use)}`;
    const key = use.command ?? use.action;
    outcomes.delete(commandKey(text) ?? '');
    outcomes.delete(key);
    outcomes.set(key, {
      at: use.at,
      text,
      rank: rateOutcome(text) + (2 * (use.at + 1)) / (messageCount + 1) - (use.kind === 'run' ? 0 : 2),
    });
  }
  return [...outcomes.values()];
}

/** What only looks is told where it failed, or where no path says what was looked at. */
function isWorthTelling(use: ToolUse): boolean {
  if (use.kind !== 'look') return false;
  return use.command === undefined ? use.read.length === 0 : errorOf(use) !== undefined;
}

/** True for a line of earlier Accomplished that tells the outcome of a command. */
export function isOutcome(line: string): boolean {
  return commandKey(line) !== undefined;
}

function commandKey(line: string): string | undefined {
  const end = line.startsWith('Ran `') ? line.indexOf('`: ') : -1;
  return end < 0 ? undefined : line.slice(0, end);
}

function rateOutcome(line: string): number {
  return 2 + (weighty.test(line) ? 2 : 0) + (testLine.test(line) ? 1 : 0);
}

function outcomeOf(use: ToolUse): string {
  if (use.answeredAt === undefined) return 'no result yet';
  const code = exitCodeOf(use.output);
  const state = code !== undefined ? `exit ${code}` : hasFailed(use) ? 'failed' : 'done';
  const words = clip(tellingWords(use), longestOutcome);
  return words === '' ? state : `${state}, ${words}`;
}

/** A command without the text that it passes on. */
function withoutHeredoc(command: string): string {
  const start = command.search(/<<-?\s*['"]?\w/);
  const end = start < 0 ? -1 : command.indexOf('\n', start);
  return end < 0 ? command.slice(0, 4_000) : `${command.slice(0, Math.min(end, 4_000))} …`;
}

/** The last test or commit line, else a failed result's error, else what was printed where it is short, else its last line. */
function tellingWords(use: ToolUse): string {
  const printed: string[] = [];
  let last = '';
  let telling: string | undefined;
  for (const line of linesOf(use.output, 400)) {
    if (!/[\p{L}\p{N}]/u.test(line) || /^\s*<\/?[\w-]+>\s*$/.test(line) || exitCodeOf(line) !== undefined) continue;
    if (printed.length < 4) printed.push(toOneLine(line));
    last = line;
    if (committed.test(line) || (testLine.test(line) && (/\d/.test(line) || telling === undefined))) telling = line;
  }
  if (telling !== undefined) return toOneLine(telling);
  if (hasFailed(use)) return errorOf(use) ?? '';
  const whole = printed.join(' / ');
  return printed.length < 4 && whole.length <= longestOutcome ? whole : toOneLine(last);
}
