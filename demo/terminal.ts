import type { CompactionEvent } from 'context-compactor';
import type { DemoRun } from './run.ts';

/** What the demo shows while it runs. */
export interface Terminal {
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
const colors = { dim: 2, bold: 1, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

/** Writes to a terminal; without colours where it is none, or where NO_COLOR is set. */
export function createTerminal(output: NodeJS.WritableStream & { isTTY?: boolean }, environment: NodeJS.ProcessEnv): Terminal {
  const colored = output.isTTY === true && !environment.NO_COLOR;
  const paint = (color: keyof typeof colors, text: string): string =>
    colored ? `\u001b[${colors[color]}m${text}\u001b[0m` : text;
  const line = (text: string): void => {
    output.write(`${text}\n`);
  };

  return {
    heading: (text) => line(`\n${paint('bold', text)}`),
    step({ number, tokens, inputBudget, threshold, action }) {
      const color = tokens >= threshold ? 'red' : tokens >= 0.7 * inputBudget ? 'yellow' : 'green';
      const size = `${format(tokens)} / ${format(inputBudget)}`.padStart(15);
      line(`${String(number).padStart(3)} ${paint(color, bar(tokens, inputBudget, threshold))} ${size}  ${paint('dim', action)}`);
    },
    event: (event) => line(paint('cyan', `    ${describe(event)}`)),
    answer: (text, isCorrect) => line(`\n${text}\n${isCorrect ? paint('green', 'correct') : paint('red', 'wrong')}`),
    summary: (runs) => line(`\n${table(runs)}`),
  };
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
