import type { CompactionEvent } from 'context-compactor';

/** Shows that it works. */
export function printCompaction(event: CompactionEvent): void {
  if (event.type === 'auto_compaction_applied') console.log(`compacted: ${event.tokensBefore} -> ${event.tokensAfter} tokens`);
}
