import { blocksOf, isServerCall, isToolResult } from './blocks.ts';
import { mergeMessages, splitMessage } from './merge-messages.ts';
import { nameDocumentsApart } from './name-documents.ts';
import type { BedrockMessage } from './shape.ts';

/**
 * The messages as the provider takes them: no empty turn, user and assistant in turn, results first, system messages where they are
 * allowed, no two documents of one name. Messages that nothing moves or merges are the very same objects.
 */
export function arrangeTurns(items: readonly BedrockMessage[]): readonly BedrockMessage[] {
  return nameDocumentsApart(mergeTurns(placeSystemMessages(items.filter(saysSomething))));
}

function saysSomething(item: BedrockMessage): boolean {
  return blocksOf(item).length > 0;
}

/** Turns that the request had already stay as they are, however odd: only what comes behind their last complete turn is arranged. */
export function arrangeNewTurns(known: readonly BedrockMessage[], items: readonly BedrockMessage[]): readonly BedrockMessage[] {
  let same = 0;
  const kept: BedrockMessage[] = [];
  for (const message of known) {
    const parts = splitMessage(message);
    if (!parts.every((part, index) => part === items[same + index])) break;
    kept.push(message);
    same += parts.length;
  }
  const added = items.slice(same).filter(saysSomething);
  if (added.length === 0) return kept;
  const start = startOfOpenTurn(kept, added);
  return nameDocumentsApart([...kept.slice(0, start), ...arrangeTurns([...kept.slice(start), ...added])]);
}

/** How many messages no later one can join or move into. */
function startOfOpenTurn(kept: readonly BedrockMessage[], added: readonly BedrockMessage[]): number {
  const next = added.find(({ role }) => role !== 'system');
  if (next?.role === 'assistant') return kept.findLastIndex(({ role }) => role !== 'assistant') + 1;
  return kept.findLastIndex(({ role }) => role === 'assistant') + 1;
}

/** A system message stands after a user message (or an assistant's own server tools), and last or before an assistant. */
function placeSystemMessages(items: readonly BedrockMessage[]): readonly BedrockMessage[] {
  if (!items.some(({ role }) => role === 'system')) return items;
  const placed: BedrockMessage[] = [];
  let waiting: BedrockMessage[] = [];
  for (const item of items) {
    if (item.role === 'system') {
      waiting.push(item);
      continue;
    }
    if (item.role === 'assistant' && maySystemFollow(placed.at(-1))) {
      for (const message of waiting) placed.push(message);
      waiting = [];
    }
    placed.push(item);
  }
  if (maySystemFollow(placed.at(-1))) return [...placed, ...waiting];
  let after = placed.findLastIndex(({ role }) => role === 'user') + 1;
  while (placed[after]?.role === 'system') after++;
  return [...placed.slice(0, after), ...waiting, ...placed.slice(after)];
}

function maySystemFollow(item: BedrockMessage | undefined): boolean {
  const last = item && blocksOf(item).at(-1);
  return item?.role === 'user' || (item?.role === 'assistant' && (isServerCall(last) || isToolResult(last)));
}

function mergeTurns(items: readonly BedrockMessage[]): BedrockMessage[] {
  const runs: [BedrockMessage, ...BedrockMessage[]][] = [];
  for (const item of items) {
    const run = runs.at(-1);
    if (run && run[0].role === item.role) run.push(item);
    else runs.push([item]);
  }
  return runs.map(mergeMessages);
}
