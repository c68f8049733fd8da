import { type Fields, isBlank, isRecord, withoutFields } from '../fields.ts';
import type { AnthropicBlock, AnthropicMessage } from './shape.ts';

/** A block whose other fields are read or written. */
export type Block = Fields & AnthropicBlock;

/** A block's type; the empty string for what is no block. */
export function typeOf(block: unknown): string {
  return isRecord(block) && typeof block.type === 'string' ? block.type : '';
}

export function isBlankText(block: unknown): boolean {
  return isRecord(block) && block.type === 'text' && typeof block.text === 'string' && isBlank(block.text);
}

export function isThinking(block: unknown): boolean {
  return typeOf(block) === 'thinking' || typeOf(block) === 'redacted_thinking';
}

export function isToolResult(block: unknown): boolean {
  return typeOf(block) === 'tool_result';
}

/** A call that the provider runs itself: `server_tool_use`, `mcp_tool_use`. */
export function isServerCall(block: unknown): boolean {
  return typeOf(block).endsWith('_tool_use');
}

/** What the provider's own tools returned: `web_search_tool_result`, `mcp_tool_result` and their like. */
export function isServerResult(block: unknown): boolean {
  return typeOf(block).endsWith('_tool_result');
}

/** The blocks of a message: a string is one text block. */
export function blocksOf(message: AnthropicMessage): readonly AnthropicBlock[] {
  const { content } = message;
  return typeof content === 'string' ? [textBlock(content)] : (content ?? []);
}

/** The blocks without thoughts at their end, which the provider refuses there. */
export function withoutFinalThoughts(blocks: readonly AnthropicBlock[]): readonly AnthropicBlock[] {
  const end = blocks.findLastIndex((block) => !isThinking(block)) + 1;
  return end === blocks.length ? blocks : blocks.slice(0, end);
}

export function textBlock(text: string): Block {
  return { type: 'text', text };
}

/** A block without its cache marker, which moves from step to step: the very same object where it has none. */
export function withoutCacheMarker(block: unknown): unknown {
  return isRecord(block) ? withoutFields(block, ['cache_control']) : block;
}
