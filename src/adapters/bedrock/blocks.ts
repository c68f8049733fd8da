import { type Fields, isBlank, isRecord, listOf, stringOf } from '../fields.ts';
import type { BedrockBlock, BedrockMessage } from './shape.ts';

/** What a block holds under the key that says what it is; undefined for another block. */
export function memberOf(block: unknown, key: string): Fields | undefined {
  const member = isRecord(block) ? block[key] : undefined;
  return isRecord(member) ? member : undefined;
}

/** The text of a plain text block. */
export function textOfBlock(block: unknown): string | undefined {
  return isRecord(block) && typeof block.text === 'string' ? block.text : undefined;
}

/** What a reply said with its sources beside it: text in a block of its own. */
export function citedText(block: unknown): string | undefined {
  const cited = memberOf(block, 'citationsContent');
  return cited && listOf(cited.content).map(textOfBlock).join('');
}

export function isBlankText(block: unknown): boolean {
  const text = textOfBlock(block);
  return text !== undefined && isBlank(text);
}

export function isCachePoint(block: unknown): boolean {
  return memberOf(block, 'cachePoint') !== undefined;
}

export function isReasoning(block: unknown): boolean {
  return memberOf(block, 'reasoningContent') !== undefined;
}

export function isToolResult(block: unknown): boolean {
  return memberOf(block, 'toolResult') !== undefined;
}

/** A call that the caller has to answer. */
export function isClientCall(block: unknown): boolean {
  const call = memberOf(block, 'toolUse');
  return call !== undefined && stringOf(call.type) === '';
}

/** A call that the provider runs itself: its result stands in the same message. */
export function isServerCall(block: unknown): boolean {
  return memberOf(block, 'toolUse') !== undefined && !isClientCall(block);
}

/** The id of a call or a result; empty for any other block. */
export function toolUseIdOf(block: unknown): string {
  return stringOf((memberOf(block, 'toolUse') ?? memberOf(block, 'toolResult'))?.toolUseId);
}

export function blocksOf(message: BedrockMessage): readonly BedrockBlock[] {
  return message.content ?? [];
}

/** Results first, in their order; everything else after them. A cache point marks the block before it and goes with it. B041 */
export function resultsFirst(blocks: readonly BedrockBlock[]): readonly BedrockBlock[] {
  const results: BedrockBlock[] = [];
  const others: BedrockBlock[] = [];
  let place = others;
  for (const block of blocks) {
    if (!isCachePoint(block)) place = isToolResult(block) ? results : others;
    place.push(block);
  }
  return [...results, ...others];
}
