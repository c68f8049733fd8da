import { isSameList } from '../lists.ts';
import { blocksOf, isCachePoint, resultsFirst } from './blocks.ts';
import type { BedrockBlock, BedrockMessage } from './shape.ts';

/**
 * What a merged message was made of. The provider takes no two turns of one role in a row, but what is one turn there is several items
 * here: a replacement, and what the user said after it. They are told apart by the message object alone, for as long as it lives; nothing
 * depends on them being found but that a later compaction knows the replacement again.
 */
const origins = new WeakMap<BedrockMessage, { parts: readonly BedrockMessage[]; blocks: readonly BedrockBlock[] }>();

/** Messages of one role as one message, results first; a message by itself is the very same object unless its results must move. */
export function mergeMessages(run: readonly [BedrockMessage, ...BedrockMessage[]]): BedrockMessage {
  const [first, ...others] = run;
  const blocks = run.flatMap(blocksOf);
  const content = first.role === 'user' ? resultsFirst(blocks) : blocks;
  if (others.length === 0) return isSameList(content, blocks) ? first : { ...first, content };
  const merged: BedrockMessage = { ...first, content };
  origins.set(merged, { parts: run.flatMap(splitMessage), blocks: withoutCachePoints(content) });
  return merged;
}

/** The messages as they were before they were merged, the very same objects. */
export function splitMessages(messages: readonly BedrockMessage[]): readonly BedrockMessage[] {
  return messages.some((message) => origins.has(message)) ? messages.flatMap(splitMessage) : messages;
}

/** A merged message that was edited since is one message. Cache points come and go. */
export function splitMessage(message: BedrockMessage): readonly BedrockMessage[] {
  const origin = origins.get(message);
  return origin && isSameList(withoutCachePoints(blocksOf(message)), origin.blocks) ? origin.parts : [message];
}

function withoutCachePoints(blocks: readonly BedrockBlock[]): readonly BedrockBlock[] {
  return blocks.filter((block) => !isCachePoint(block));
}
