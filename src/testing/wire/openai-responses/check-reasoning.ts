import type { Report } from '../report.ts';
import type { InputItem } from './read-input.ts';

/** Items that a model never puts out. */
const inputKinds = new Set(['additional_tools', 'compaction_trigger', 'mcp_approval_response']);

/** Reasoning stands right before what it led to, with nothing between but more reasoning. B021 */
export function checkReasoning(items: readonly InputItem[], report: Report): void {
  items.forEach((entry, index) => {
    const next = items[index + 1];
    // Of several in a row the last one tells.
    if (entry.kind === 'reasoning' && next?.kind !== 'reasoning' && !(next && isOutput(next)))
      report('reasoning-alone', entry.path, 'Expected reasoning to be followed by the item that it led to.');
  });
}

function isOutput({ kind, item }: InputItem): boolean {
  if (kind === 'message') return item.role === 'assistant';
  return !kind.endsWith('_output') && !inputKinds.has(kind);
}
