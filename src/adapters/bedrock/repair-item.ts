import { isBlank, isRecord, listOf, stringOf } from '../fields.ts';
import { isSameList } from '../lists.ts';
import { errorWithoutText } from '../placeholders.ts';
import {
  blocksOf,
  isBlankText,
  isCachePoint,
  isReasoning,
  isServerCall,
  isToolResult,
  memberOf,
  resultsFirst,
  toolUseIdOf,
} from './blocks.ts';
import type { BedrockBlock, BedrockMessage } from './shape.ts';
import { withTextBesideDocuments } from './write-message.ts';

/** See `ProviderAdapter.repairItem`. */
export function repairItem(item: BedrockMessage): BedrockMessage | undefined {
  const blocks = blocksOf(item);
  const content = placeCachePoints(item.role === 'user' ? repairUser(blocks) : repairOther(item));
  if (content.length === 0) return undefined;
  return isSameList(content, blocks) ? item : { ...item, content };
}

function repairUser(blocks: readonly BedrockBlock[]): readonly BedrockBlock[] {
  const kept = blocks.filter((block) => isSaying(block) && !isReasoning(block) && !memberOf(block, 'toolUse')).map(repairResult);
  return resultsFirst(withTextBesideDocuments(kept));
}

function repairOther(item: BedrockMessage): readonly BedrockBlock[] {
  const ownCalls = new Set(blocksOf(item).filter(isServerCall).map(toolUseIdOf));
  return blocksOf(item).filter((block) => {
    if (isToolResult(block)) return ownCalls.has(toolUseIdOf(block));
    return isSaying(block) && isFilledReasoning(block);
  });
}

function isSaying(block: unknown): boolean {
  return isRecord(block) && !isBlankText(block);
}

/**
 * Claude signs its reasoning, most other models do not: what has no signature is whole, what has an empty one was cut. B186
 */
function isFilledReasoning(block: unknown): boolean {
  const reasoning = memberOf(block, 'reasoningContent');
  const { text, signature } = memberOf(reasoning, 'reasoningText') ?? {};
  if (signature !== undefined) return stringOf(signature) !== '';
  return text === undefined || !isBlank(stringOf(text));
}

/** A cache point marks what is before it in its message, and reasoning cannot be marked. */
function placeCachePoints(blocks: readonly BedrockBlock[]): readonly BedrockBlock[] {
  return blocks.filter((block, index) => !isCachePoint(block) || (index > 0 && !isReasoning(blocks[index - 1])));
}

/** A result without blank text. An error result always says something: the provider refuses it otherwise. */
function repairResult(block: BedrockBlock): BedrockBlock {
  const result = memberOf(block, 'toolResult');
  if (!result) return block;
  const said = listOf(result.content).filter((inner) => !isBlankText(inner));
  const content = said.length === 0 && result.status === 'error' ? [{ text: errorWithoutText }] : said;
  return isSameList(content, listOf(result.content)) && Array.isArray(result.content)
    ? block
    : { ...block, toolResult: { ...result, content } };
}
