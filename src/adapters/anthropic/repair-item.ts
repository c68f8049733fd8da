import { isBlank, isRecord } from '../fields.ts';
import { isSameList } from '../lists.ts';
import { errorWithoutText } from '../placeholders.ts';
import { type Block, isBlankText, isServerCall, isServerResult, isToolResult } from './blocks.ts';
import type { AnthropicBlock, AnthropicMessage } from './shape.ts';

/** See `ProviderAdapter.repairItem`. */
export function repairItem(item: AnthropicMessage): AnthropicMessage | undefined {
  const { content } = item;
  if (typeof content === 'string') return isBlank(content) ? undefined : item;
  if (!content) return isSettingsOnly(item) ? item : undefined;
  const kept = content.filter((block) => isAccepted(block, item.role)).map(repairBlock);
  const blocks = item.role === 'user' ? resultsFirst(kept) : kept;
  if (blocks.length === 0) return undefined;
  return isSameList(blocks, content) ? item : { ...item, content: blocks };
}

/** A system message of the beta may set `output_config` and say nothing. */
export function isSettingsOnly(item: AnthropicMessage): boolean {
  return item.role === 'system' && 'output_config' in item && isRecord(item.output_config);
}

/** Tool results first, in their order; everything else after them. B041 */
function resultsFirst(blocks: readonly AnthropicBlock[]): readonly AnthropicBlock[] {
  return [...blocks.filter(isToolResult), ...blocks.filter((block) => !isToolResult(block))];
}

function isAccepted(block: unknown, role: string): boolean {
  if (!isRecord(block) || isBlankText(block)) return false;
  switch (block.type) {
    case 'thinking':
      return role === 'assistant' && isFilled(block.signature); // B186
    case 'redacted_thinking':
      return role === 'assistant' && isFilled(block.data);
    case 'compaction':
      return isFilled(block.content); // B038
    case 'tool_use':
      return role === 'assistant' && isFilled(block.name);
    case 'tool_result':
      return role === 'user';
    case 'image':
    case 'document':
      return role !== 'assistant';
    default:
      return role === 'assistant' || !(isServerCall(block) || isServerResult(block));
  }
}

/** A result without blank text. An error result always says something: the provider refuses it otherwise. */
function repairBlock(block: AnthropicBlock): AnthropicBlock {
  if (!isRecord(block) || !isToolResult(block)) return block;
  const { content, ...rest }: Block = block;
  const kept = Array.isArray(content) ? content.filter((inner) => !isBlankText(inner)) : content;
  const says = Array.isArray(kept) ? kept.length > 0 : typeof kept === 'string' && !isBlank(kept);
  const withContent = (content: unknown): Block => ({ ...rest, content });
  if (block.is_error === true && !says) return withContent(errorWithoutText);
  if (!Array.isArray(content) || !Array.isArray(kept) || kept.length === content.length) return block;
  return says ? withContent(kept) : rest;
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
