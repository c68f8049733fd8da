import type { DemoRun } from './run.ts';

const columns: readonly [name: string, read: (run: DemoRun) => string][] = [
  ['calls', (run) => String(run.steps)],
  ['compactions', (run) => String(run.compactions)],
  ['largest', (run) => formatTokens(run.peakTokens)],
  ['  last', (run) => formatTokens(run.finalTokens)],
  ['uncompacted', (run) => formatTokens(run.tokensWithoutCompaction)],
  ['over budget', (run) => String(run.overBudgetRequests)],
  ['invalid', (run) => String(run.invalidRequests)],
  ['prefix reused', ({ prefixReuse: shares }) => (shares.length > 0 ? `${Math.floor(Math.min(...shares) * 100)}%` : 'none')],
  ['question', (run) => (run.latestUserMessageVerbatim ? 'verbatim' : 'changed')],
  [' answer', (run) => (run.answerCorrect ? 'correct' : 'wrong')],
];

const nameWidth = 24;

export const tableHead: string = ['provider (on the wire)'.padEnd(nameWidth), ...columns.map(([name]) => name)].join('  ');

/** The figures of one run, under `tableHead`. */
export function tableRow(run: DemoRun): string {
  const name = run.wire === run.provider ? run.provider : `${run.provider} (${run.wire})`;
  return [name.padEnd(nameWidth), ...columns.map(([head, read]) => read(run).padStart(head.length))].join('  ');
}

export function formatTokens(tokens: number): string {
  return tokens.toLocaleString('en-US');
}
