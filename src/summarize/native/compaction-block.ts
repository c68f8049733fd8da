import { blocksOf, typeOf } from '../../adapters/anthropic/blocks.ts';
import type { AnthropicBlock, AnthropicMessage } from '../../adapters/anthropic/shape.ts';
import { fieldsOf, isBlank, stringOf } from '../../adapters/fields.ts';

/** The text of a compaction block; empty where the compaction failed, or for any other block. B038 */
export function textOfCompaction(block: AnthropicBlock): string {
  return isCompaction(block) ? stringOf(fieldsOf(block).content) : '';
}

export function isCompaction(block: AnthropicBlock): boolean {
  return typeOf(block) === 'compaction';
}

/** True for a message that holds a compaction of the provider, which stands for all before it. */
export function isMarker(message: AnthropicMessage): boolean {
  return blocksOf(message).some((block) => !isBlank(textOfCompaction(block)));
}

/**
 * The conversation from its newest compaction block on: such a block has to stand first, and there may be one. The same array where nothing
 * stands before it. V60
 */
export function startAtMarker(messages: readonly AnthropicMessage[]): readonly AnthropicMessage[] {
  const start = messages.findLastIndex(isMarker);
  const marker = messages[start];
  if (!marker) return messages;
  const blocks = blocksOf(marker);
  const first = blocks.findLastIndex((block) => !isBlank(textOfCompaction(block)));
  if (start === 0 && first === 0) return messages;
  const opening = first === 0 ? marker : { ...marker, content: blocks.slice(first) };
  return [opening, ...messages.slice(start + 1)];
}
