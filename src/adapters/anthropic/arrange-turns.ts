import { type Fields, isBlank } from '../fields.ts';
import { blocksOf, isServerCall, isServerResult, isToolResult } from './blocks.ts';
import { isSettingsOnly } from './repair-item.ts';
import type { AnthropicMessage } from './shape.ts';

/**
 * The messages as the provider takes them: no empty turn, system messages where they are allowed, results first in what the
 * provider merges into one user turn. Messages that nothing moves or merges are the very same objects.
 */
export function arrangeTurns(items: readonly AnthropicMessage[]): AnthropicMessage[] {
  return putResultsFirst(placeSystemMessages(items.filter((item) => !isEmptyTurn(item))));
}

function isEmptyTurn(item: AnthropicMessage): boolean {
  const { content } = item;
  if (typeof content === 'string') return isBlank(content);
  return (!content || content.length === 0) && !isSettingsOnly(item);
}

/** A system message stands after a user message (or an assistant's own server tools), and last or before an assistant. */
function placeSystemMessages(items: readonly AnthropicMessage[]): AnthropicMessage[] {
  const placed: AnthropicMessage[] = [];
  let waiting: AnthropicMessage[] = [];
  for (const item of items) {
    if (item.role === 'system') {
      waiting.push(item);
      continue;
    }
    if (item.role === 'assistant' && waiting.length > 0 && maySystemFollow(placed.at(-1))) {
      placed.push(mergeSystem(waiting));
      waiting = [];
    }
    placed.push(item);
  }
  if (waiting.length === 0) return placed;
  const after = maySystemFollow(placed.at(-1)) ? placed.length : placed.findLastIndex(({ role }) => role === 'user') + 1;
  const neighbour = placed[after];
  if (neighbour?.role === 'system') placed[after] = mergeSystem([neighbour, ...waiting]);
  else placed.splice(after, 0, mergeSystem(waiting));
  return placed;
}

function maySystemFollow(item: AnthropicMessage | undefined): boolean {
  if (item?.role === 'user') return true;
  const last = item && blocksOf(item).at(-1);
  return item?.role === 'assistant' && (isServerCall(last) || isServerResult(last));
}

function mergeSystem(items: readonly AnthropicMessage[]): AnthropicMessage {
  const [first] = items;
  if (first && items.length === 1) return first;
  const merged: Fields = {};
  for (const item of items) Object.assign(merged, item);
  // A standing instruction must not be cleared with a passing one.
  if (items.some((item) => !('clear_at' in item) || item.clear_at !== merged.clear_at)) delete merged.clear_at;
  return { ...merged, role: 'system', content: items.flatMap(blocksOf) };
}

/** Consecutive user messages become one turn, in which no result may stand after something else. */
function putResultsFirst(items: readonly AnthropicMessage[]): AnthropicMessage[] {
  const ordered: AnthropicMessage[] = [];
  let run: AnthropicMessage[] = [];
  const endRun = (): void => {
    for (const item of orderRun(run)) ordered.push(item);
    run = [];
  };
  for (const item of items) {
    if (item.role === 'user') run.push(item);
    else {
      endRun();
      ordered.push(item);
    }
  }
  endRun();
  return ordered;
}

function orderRun(run: readonly AnthropicMessage[]): readonly AnthropicMessage[] {
  if (areResultsFirst(run)) return run;
  const results = run.flatMap((item) => keepBlocks(item, isToolResult));
  const rest = run.flatMap((item) => keepBlocks(item, (block) => !isToolResult(block)));
  return [...results, ...rest];
}

function areResultsFirst(run: readonly AnthropicMessage[]): boolean {
  let results = true;
  for (const item of run)
    for (const block of blocksOf(item)) {
      if (!isToolResult(block)) results = false;
      else if (!results) return false;
    }
  return true;
}

/** The message with these blocks alone: the same object where they are all, none where there are none. */
function keepBlocks(item: AnthropicMessage, keep: (block: unknown) => boolean): AnthropicMessage[] {
  const blocks = blocksOf(item);
  const kept = blocks.filter(keep);
  if (kept.length === blocks.length) return [item];
  return kept.length > 0 ? [{ ...item, content: kept }] : [];
}
