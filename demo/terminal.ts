import type { CompactionEvent } from 'context-compactor';
import type { AgentCall } from './agent.ts';
import { bar, describeCalls, describeEvent, firstLines } from './describe.ts';
import type { Provider } from './providers.ts';
import type { DemoRun } from './run.ts';
import { formatTokens, tableHead, tableRow } from './table.ts';

/** What the demo shows while it runs. */
export interface Terminal {
  introduce(isScripted: boolean): void;
  begin(provider: Pick<Provider, 'name' | 'client'>, budget: RunBudget): void;
  step(step: Step): void;
  event(event: CompactionEvent): void;
  end(run: DemoRun, answer: string): void;
  conclude(runs: readonly DemoRun[]): void;
}

/** In tokens. */
export interface RunBudget {
  model: string;
  contextWindow: number;
  inputBudget: number;
  threshold: number;
}

export interface Step {
  number: number;
  /** Tokens of the request that was sent. */
  tokens: number;
  inputBudget: number;
  threshold: number;
  /** What the model does next; nothing where it answers. */
  calls: readonly AgentCall[];
}

const scripted = `Scripted: the decisions of the model are fixed. Its final answer is made only from text in the last request that it received,
so it is right only if the summaries kept the facts.
`;
const legend = `A line is a request that was sent: its number, its tokens in the input budget (| is the threshold), what the model does next.
"compaction started at": the size of the request that was due. It is not sent but compacted first. The summary request repeats it
and may use the safety margin, which is the window beyond the input budget.`;
const footnote = `largest, last: tokens of the requests that were sent. uncompacted: those of the last one, had nothing been replaced.
prefix reused: how much of the turn request before it (tools, system, messages) a summary request repeats byte for byte as its
beginning; the least of all. That much a prompt cache can serve again.`;

const colors = { dim: 2, bold: 1, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

/**
 * Writes to a terminal; without colours where it is none, or where NO_COLOR is set. The first run is shown step by step, and so is its
 * first summary; of the others there is a row of figures, unless `isVerbose`.
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
  const isShown = () => runs <= 1 || isVerbose;
  const row = (run: DemoRun): string => paint(isGood(run) ? 'green' : 'red', tableRow(run));

  return {
    introduce: (isScripted) => line(`${isScripted ? scripted : ''}${legend}`),
    begin({ name, client }, { model, contextWindow, inputBudget, threshold }) {
      runs += 1;
      if (isShown())
        line(
          `\n${paint('bold', `${name} (${client}): ${model}, window ${contextWindow}, input budget ${inputBudget}, threshold ${threshold}`)}`,
        );
    },
    step({ number, tokens, inputBudget, threshold, calls }) {
      if (!isShown()) return;
      const color = tokens >= threshold ? 'red' : tokens >= 0.7 * inputBudget ? 'yellow' : 'green';
      const size = `${formatTokens(tokens)} / ${formatTokens(inputBudget)}`.padStart(15);
      const action = paint('dim', describeCalls(calls));
      line(`${String(number).padStart(3)} ${paint(color, bar(tokens, inputBudget, threshold))} ${size}  ${action}`);
    },
    event(event) {
      if (!isShown()) return;
      line(paint('cyan', `    ${describeEvent(event)}`));
      if (event.type !== 'auto_compaction_applied') return;
      summaries += 1;
      if (summaries === 1) line(paint('dim', firstLines(event.replacement)));
    },
    end(run, answer) {
      if (isShown()) line(`\n${answer}\n${run.answerCorrect ? paint('green', 'correct') : paint('red', 'wrong')}`);
      if (isVerbose) return;
      if (runs === 1) line(`\n${paint('bold', tableHead)}`);
      line(row(run));
    },
    conclude(all) {
      if (isVerbose) line([`\n${paint('bold', tableHead)}`, ...all.map(row)].join('\n'));
      line(`\n${footnote}`);
    },
  };
}

function isGood({ answerCorrect, latestUserMessageVerbatim, invalidRequests, overBudgetRequests }: DemoRun): boolean {
  return answerCorrect && latestUserMessageVerbatim && invalidRequests === 0 && overBudgetRequests === 0;
}
