import { isRecord } from '../../adapters/fields.ts';
import { type CompactionRequest, copyRequest, type MessagesTask, withBetas } from './anthropic-request.ts';

/**
 * Compaction at a threshold, the older way: the same request, in which the provider compacts before it would answer, and then pauses. What
 * it does before that is fixed in its order. The tool choice stays as it is, for the sake of the cache. V58
 *
 * @throws CompactionError `incomplete-turn`, `invalid-request`, `summarizer-overflow`
 */
export function askInline(task: MessagesTask, instructions: string, { clearFirst }: { clearFirst: boolean }): CompactionRequest {
  const { fields, changed, omitted } = copyRequest(task);
  const thinking = isRecord(fields.thinking) && fields.thinking.type !== 'disabled';
  const edits = [
    // Refused where the model does not think.
    ...(clearFirst && thinking ? [{ type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: 2 } }] : []),
    ...(clearFirst
      ? [{ type: 'clear_tool_uses_20250919', trigger: atTokens(100_000), keep: { type: 'tool_uses', value: 3 } }]
      : []),
    {
      type: 'compact_20260112',
      trigger: atTokens(50_000), // the least that the provider takes
      pause_after_compaction: true,
      ...(instructions !== '' && { instructions }),
    },
  ];
  delete fields.compaction; // not both
  fields.context_management = { edits };
  return {
    body: withBetas(fields, ['compact-2026-01-12', 'context-management-2025-06-27']),
    changed: [...changed, 'context_management'],
    omitted,
  };
}

function atTokens(value: number): { type: 'input_tokens'; value: number } {
  return { type: 'input_tokens', value };
}
