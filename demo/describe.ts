import type { CompactionEvent, Message } from 'context-compactor';
import type { AgentCall } from './agent.ts';
import { formatTokens } from './table.ts';

const barWidth = 32;
const summaryLines = 12;
const lineWidth = 130;

export function describeCalls(calls: readonly AgentCall[]): string {
  const words = calls.map(({ name, input }) =>
    [name, input.text && JSON.stringify(input.text), input.path].filter(Boolean).join(' '),
  );
  return words.join(', ') || 'answer';
}

/** The beginning of the summary in a replacement. */
export function firstLines(replacement: readonly Message[]): string {
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
export function bar(tokens: number, inputBudget: number, threshold: number): string {
  const filled = Math.min(barWidth, Math.round((tokens / inputBudget) * barWidth));
  const mark = Math.min(barWidth - 1, Math.floor((threshold / inputBudget) * barWidth));
  const cells = Array.from({ length: barWidth }, (_, index) => (index < filled ? '█' : index === mark ? '|' : '·'));
  return `[${cells.join('')}]`;
}

export function describeEvent(event: CompactionEvent): string {
  switch (event.type) {
    case 'auto_compaction_started':
      return `compaction started at ${formatTokens(event.estimate.tokens)} tokens (threshold ${formatTokens(event.estimate.threshold)})`;
    case 'auto_compaction_applied':
      return `compaction applied: ${formatTokens(event.tokensBefore)} -> ${formatTokens(event.tokensAfter)} tokens, prompt prefix ${event.prefix}`;
    case 'auto_compaction_cancelled':
      return `compaction cancelled by the ${event.by}`;
    case 'auto_compaction_failed':
      return `compaction failed: ${event.error.message}`;
    case 'notice':
      return `notice ${event.code}: ${event.message}`;
  }
}
