import { type Fields, isRecord, type Report } from '../report.ts';
import type { WireMessage } from './turns.ts';

/**
 * A compaction block stands for all that was before it: it opens the conversation, and there is one. Where the request lets the
 * provider compact on its way, the blocks stand where the provider put them.
 */
export function checkCompaction(body: Fields, messages: readonly WireMessage[], report: Report): void {
  if (compactsOnItsWay(body)) return;
  const blocks = messages.flatMap((message) => message.blocks).filter(({ type }) => type === 'compaction');
  const [first, ...others] = blocks;
  if (first && first !== messages[0]?.blocks[0])
    report('compaction-misplaced', first.path, 'Expected a compaction block to be the first block of the first message.');
  for (const { path } of others) report('compaction-twice', path, 'Expected one compaction block.');
}

function compactsOnItsWay({ context_management }: Fields): boolean {
  const edits = isRecord(context_management) ? context_management.edits : undefined;
  return Array.isArray(edits) && edits.some((edit) => isRecord(edit) && String(edit.type).startsWith('compact_'));
}
