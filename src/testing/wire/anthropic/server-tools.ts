import { isRecord, type Report } from '../report.ts';
import { isServerCall, isServerResult, type WireBlock, type WireTurn } from './turns.ts';

/**
 * A call that the provider runs and its result stand in one assistant turn. Two calls may be open: one of a turn that was paused, in
 * last place, and one whose code waits for the client's own tools, until the turn after their results.
 */
export function checkServerTools(turns: readonly WireTurn[], report: Report): void {
  let waiting = new Set<unknown>();
  turns.forEach(({ role, blocks }, index) => {
    if (role !== 'assistant') return;
    const open = new Map<unknown, WireBlock>();
    const stillWaiting = waiting;
    waiting = new Set(blocks.map(callerOf).filter((id) => id !== undefined));
    for (const block of blocks) {
      if (isServerCall(block.type)) open.set(block.fields.id, block);
      else if (isServerResult(block.type)) {
        const id = block.fields.tool_use_id;
        if (!open.delete(id) && !stillWaiting.delete(id))
          report('server-result-orphan', block.path, `Expected the call ${String(id)} before it in the same message.`);
      }
    }
    if (index === turns.length - 1) return;
    for (const [id, block] of open)
      if (!waiting.has(id))
        report('server-call-unanswered', block.path, `Expected the result of ${String(id)} in the same message.`);
  });
}

/** The code execution that made a client call: it goes on when the call is answered. */
function callerOf({ type, fields }: WireBlock): unknown {
  return type === 'tool_use' && isRecord(fields.caller) ? fields.caller.tool_id : undefined;
}
