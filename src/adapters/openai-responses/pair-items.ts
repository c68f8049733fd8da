import type { PairOptions } from '../adapter.ts';
import { isSameList } from '../lists.ts';
import { isHeldItem } from './held-item.ts';
import { callKey, isModelItem, isOwnCall, isOwnResult, isReasoning, isUnfinished, kindOf, resultKey } from './item-kinds.ts';
import { nameCalls } from './name-calls.ts';
import { startOfOpenTurn } from './open-turn.ts';
import { readItem } from './read-item.ts';
import { withoutServerId } from './repair-item.ts';
import type { ResponsesItem, WrittenItem } from './shape.ts';
import { writeMessage } from './write-message.ts';

/**
 * See `ProviderAdapter.pairItems`. A result may stand anywhere behind its call, and calls made in parallel are items in a row, so that
 * nothing has to move: what is missing is added, and what has no partner goes or becomes text.
 */
export function pairItems(given: readonly ResponsesItem[], options: PairOptions): readonly ResponsesItem[] {
  const items = nameCalls(given);
  const { unanswered, orphans } = matchItems(items);
  const firstOpen = options.closeOpen ? items.length : startOfOpenCalls(items, unanswered);
  const paired: ResponsesItem[] = [];
  let results: ResponsesItem[] = [];
  const endTurn = (): void => {
    for (const result of results) paired.push(result);
    results = [];
  };
  items.forEach((item, index) => {
    if (!isModelItem(item) || index === firstOpen) endTurn();
    // What a lost result says stands in front of a turn that still waits for its own.
    if (index === firstOpen)
      for (const orphan of orphans) if (orphan > index) paired.push(...writeOrphan(items[orphan], options));
    if (orphans.has(index)) paired.push(...(index > firstOpen ? [] : writeOrphan(item, options)));
    else if (!unanswered.has(index) || index >= firstOpen) paired.push(item);
    else if (isOwnCall(item)) {
      paired.push(item);
      results.push(writeMissing(item, options.missingResult));
    }
    // A call of another kind cannot be answered for its tool: it goes.
  });
  endTurn();
  const once = dropRepeats(dropLoneReasoning(paired, options.closeOpen));
  const tied = dropLoneReasoning(once, options.closeOpen); // a repeat may have been what reasoning led to
  return isSameList(tied, given) ? given : tied;
}

/** Where the last turn begins, if one of its calls still waits; otherwise the number of items. */
function startOfOpenCalls(items: readonly ResponsesItem[], unanswered: ReadonlySet<number>): number {
  const start = startOfOpenTurn(items);
  return [...unanswered].some((index) => index >= start) ? start : items.length;
}

/**
 * The calls without a result and the results without a call, by their index. A result belongs to the nearest earlier call of its id
 * that is still unanswered. Behind a reference, and in what the server holds, may stand either.
 */
function matchItems(items: readonly ResponsesItem[]): { unanswered: Set<number>; orphans: Set<number> } {
  const waiting = new Map<string, number[]>();
  const unanswered = new Set<number>();
  const orphans = new Set<number>();
  let lastReference = -1;
  items.forEach((item, index) => {
    if (kindOf(item) === 'item_reference' || isHeldItem(item)) lastReference = index;
    const call = callKey(item);
    if (call !== undefined) {
      const others = waiting.get(call);
      if (others) others.push(index);
      else waiting.set(call, [index]);
      // A program, and a question to the user, may stay open.
      if (kindOf(item).endsWith('_call')) unanswered.add(index);
    }
    const result = resultKey(item);
    if (result === undefined) return;
    const answered = waiting.get(result)?.pop();
    if (answered !== undefined) unanswered.delete(answered);
    else if (lastReference === -1) orphans.add(index);
  });
  return { unanswered: new Set([...unanswered].filter((index) => index > lastReference)), orphans };
}

function writeMissing(call: ResponsesItem, missingResult: string): WrittenItem {
  return { type: `${kindOf(call)}_output`, call_id: call.call_id, output: missingResult };
}

function writeOrphan(item: ResponsesItem | undefined, options: PairOptions): ResponsesItem[] {
  if (!item || !isOwnResult(item)) return [];
  const results = readItem(item).flatMap(({ parts }) => parts.filter((part) => part.type === 'toolResult'));
  return writeMessage({ role: 'user', parts: results.flatMap(options.writeOrphan) });
}

/**
 * Reasoning stands in front of the item that it led to, or goes (B021); so does the reasoning of an item that was cut off, which the
 * server does not know by its id (B184). At the end of a conversation that goes on, what it led to may still come.
 */
function dropLoneReasoning(items: readonly ResponsesItem[], ended: boolean): ResponsesItem[] {
  const kept: ResponsesItem[] = [];
  let reasoning: ResponsesItem[] = [];
  const keepReasoning = (): void => {
    for (const item of reasoning) kept.push(item);
  };
  for (const item of items) {
    const unfinished = isUnfinished(item);
    if (isReasoning(item)) {
      if (!unfinished) reasoning.push(item);
      continue;
    }
    if (isModelItem(item) && !unfinished) keepReasoning();
    reasoning = [];
    kept.push(unfinished ? withoutServerId(item) : item);
  }
  if (!ended) keepReasoning();
  return kept;
}

/**
 * The provider refuses an id that comes twice. What a host stored twice stays once; of messages and calls, which may have results of their
 * own, the second stays without the id.
 */
function dropRepeats(items: readonly ResponsesItem[]): ResponsesItem[] {
  const ids = new Set<string>();
  return items.flatMap((item) => {
    // The result of a local shell has the id of its call.
    if (typeof item.id !== 'string' || resultKey(item) !== undefined) return [item];
    if (!ids.has(item.id)) {
      ids.add(item.id);
      return [item];
    }
    return isOwnCall(item) || kindOf(item) === 'message' ? [withoutServerId(item)] : [];
  });
}
