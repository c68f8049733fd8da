import type { CompactionEvent, Message } from 'context-compactor';
import type { DemoRun } from './run.ts';

/** What the demo shows while it runs. */
export interface Terminal {
  introduction(isScripted: boolean): void;
  /** Begins a run. */
  heading(text: string): void;
  step(step: Step): void;
  event(event: CompactionEvent): void;
  answer(text: string, isCorrect: boolean): void;
  summary(runs: readonly DemoRun[]): void;
}

export interface Step {
  number: number;
  /** Tokens of the request that was sent. */
  tokens: number;
  inputBudget: number;
  threshold: number;
  /** What the model does next. */
  action: string;
}

const barWidth = 32;
const summaryLines = 12;
const lineWidth = 130;

const scripted = `Scripted: the decisions of the model are fixed. Its final answer is made only from text in the last request that it received,
so it is right only if the summaries kept the facts.
`;
const legend = `A line is a request that was sent: its number, its tokens in the input budget (| is the threshold), what the model does next.
"compaction started at": the size of the request that was due. It is not sent but compacted first. The summary request repeats it
and may use the safety margin, which is the window beyond the input budget.`;
const footnote = `prefix reused: for each summary request, how much of the turn request before it (tools, system, messages) it repeats byte for byte
as its beginning. That much a prompt cache can serve again.`;

const colors = { dim: 2, bold: 1, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

/**
 * Writes to a terminal; without colours where it is none, or where NO_COLOR is set. The steps are shown of the first run alone, or
 * where `isVerbose` of each, and so is the first summary.
 */
export function createTerminal(
  output: NodeJS.WritableStream & { isTTY?: boolean },
  environment: NodeJS.ProcessEnv,
  isVerbose = false,
): Terminal {
  const colored = output.isTTY === true && !environment.NO_COLOR;
  const paint = (color: keyof typeof colors, text: string): string =>
    colored ? `\u001b[${colors[color]}m${text}\u001b[0m` : text;
  const line = (text: string): void => {
    output.write(`${text}\n`);
  };

  let runs = 0;
  let summaries = 0;

  return {
    introduction: (isScripted) => line(`${isScripted ? scripted : ''}${legend}`),
    heading(text) {
      runs += 1;
      line(`\n${paint('bold', text)}`);
      if (runs > 1 && !isVerbose) line(paint('dim', '    (compactions and answer only; --verbose shows each step)'));
    },
    step({ number, tokens, inputBudget, threshold, action }) {
      if (runs > 1 && !isVerbose) return;
      const color = tokens >= threshold ? 'red' : tokens >= 0.7 * inputBudget ? 'yellow' : 'green';
      const size = `${format(tokens)} / ${format(inputBudget)}`.padStart(15);
      line(`${String(number).padStart(3)} ${paint(color, bar(tokens, inputBudget, threshold))} ${size}  ${paint('dim', action)}`);
    },
    event(event) {
      line(paint('cyan', `    ${describe(event)}`));
      if (event.type !== 'auto_compaction_applied') return;
      summaries += 1;
      if (summaries === 1) line(paint('dim', firstLines(event.replacement)));
    },
    answer: (text, isCorrect) => line(`\n${text}\n${isCorrect ? paint('green', 'correct') : paint('red', 'wrong')}`),
    summary: (runs) => line(`\n${table(runs)}\n\n${footnote}`),
  };
}

/** The beginning of the summary in a replacement. */
function firstLines(replacement: readonly Message[]): string {
  const texts = replacement.flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')));
  const lines = texts.join('').split('\n');
  const start = Math.max(
    0,
    lines.findIndex((line) => line.startsWith('## ')),
  );
  const shown = lines.slice(start, start + summaryLines);
  const rest = lines.length - start - shown.length;
  return [...shown, ...(rest > 0 ? [`… ${rest} more lines of the replacement`] : [])]
    .map((line) => `    │ ${line.length > lineWidth ? `${line.slice(0, lineWidth - 1)}…` : line}`)
    .join('\n');
}

/** A bar of the input budget; `|` is the threshold. */
function bar(tokens: number, inputBudget: number, threshold: number): string {
  const filled = Math.min(barWidth, Math.round((tokens / inputBudget) * barWidth));
  const mark = Math.min(barWidth - 1, Math.floor((threshold / inputBudget) * barWidth));
  const cells = Array.from({ length: barWidth }, (_, index) => (index < filled ? '█' : index === mark ? '|' : '·'));
  return `[${cells.join('')}]`;
}

function describe(event: CompactionEvent): string {
  switch (event.type) {
    case 'auto_compaction_started':
      return `compaction started at ${format(event.estimate.tokens)} tokens (threshold ${format(event.estimate.threshold)})`;
    case 'auto_compaction_applied':
      return `compaction applied: ${format(event.tokensBefore)} -> ${format(event.tokensAfter)} tokens, prompt prefix ${event.prefix}`;
    case 'auto_compaction_cancelled':
      return `compaction cancelled by the ${event.by}`;
    case 'auto_compaction_failed':
      return `compaction failed: ${event.error.message}`;
    case 'notice':
      return `notice ${event.code}: ${event.message}`;
  }
}

function table(runs: readonly DemoRun[]): string {
  const rows: [string, (run: DemoRun) => string][] = [
    ['provider', (run) => run.provider],
    ['context window', (run) => format(run.contextWindow)],
    ['input budget', (run) => format(run.inputBudget)],
    ['model calls', (run) => String(run.steps)],
    ['compactions', (run) => String(run.compactions)],
    ['largest request', (run) => format(run.peakTokens)],
    ['last request', (run) => format(run.finalTokens)],
    ['without compaction', (run) => format(run.tokensWithoutCompaction)],
    ['requests over budget', (run) => String(run.overBudgetRequests)],
    ['invalid requests', (run) => String(run.invalidRequests)],
    ['prefix reused', (run) => run.prefixReuse.map((share) => `${Math.floor(share * 100)}%`).join(' ')],
    ['answer', (run) => (run.answerCorrect ? 'correct' : 'wrong')],
  ];
  const width = Math.max(...runs.flatMap((run) => rows.map(([, read]) => read(run).length)));
  return rows.map(([name, read]) => `${name.padEnd(22)}${runs.map((run) => read(run).padStart(width)).join('  ')}`).join('\n');
}

function format(tokens: number): string {
  return tokens.toLocaleString('en-US');
}
