import type { PairOptions } from '../adapter.ts';
import { isRecord } from '../fields.ts';
import { blocksOf, isServerCall, isServerResult, withoutFinalThoughts } from './blocks.ts';
import type { AnthropicBlock, AnthropicMessage } from './shape.ts';

/**
 * See `ProviderAdapter.dropLoneHalves`. A call that the provider runs and its result stand in one turn, which may be several messages where
 * it was paused. Code that called the client's own tools returns in the turn behind their results.
 */
export function dropLoneHalves(
  items: readonly AnthropicMessage[],
  { closeOpen }: Pick<PairOptions, 'closeOpen'>,
): readonly AnthropicMessage[] {
  const lone = findLoneHalves(items, closeOpen);
  if (lone.size === 0) return items;
  return items.flatMap((item) => {
    const blocks = blocksOf(item);
    const kept = blocks.filter((block) => !lone.has(block));
    if (kept.length === blocks.length) return [item];
    const content = withoutFinalThoughts(kept);
    return content.length > 0 ? [{ ...item, content }] : [];
  });
}

function findLoneHalves(items: readonly AnthropicMessage[], closeOpen: boolean): Set<AnthropicBlock> {
  const lone = new Set<AnthropicBlock>();
  let open = new Map<unknown, AnthropicBlock>();
  let callers = new Set<unknown>();
  /** Calls of the turn before whose code goes on now. */
  let waiting = new Set<unknown>();
  let spoke = false;
  const endTurn = (): void => {
    for (const [id, block] of open) if (!callers.has(id)) lone.add(block);
    waiting = callers;
    open = new Map();
    callers = new Set();
    spoke = false;
  };
  for (const item of items) {
    if (item.role === 'user' && spoke) endTurn();
    if (item.role !== 'assistant') continue;
    spoke = true;
    for (const block of blocksOf(item)) {
      if (!isRecord(block)) continue;
      if (isServerCall(block)) open.set(block.id, block);
      else if (isServerResult(block)) {
        if (!open.delete(block.tool_use_id) && !waiting.delete(block.tool_use_id)) lone.add(block);
      } else if (isRecord(block.caller)) callers.add(block.caller.tool_id);
    }
  }
  if (closeOpen) endTurn();
  return lone;
}
