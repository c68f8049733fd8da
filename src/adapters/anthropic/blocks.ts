import type { AnthropicBlock, AnthropicMessage } from './shape.ts';

export type Fields = Record<string, unknown>;

/** A block whose other fields are read or written. */
export type Block = Fields & AnthropicBlock;

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

/** A block's type; the empty string for what is no block. */
export function typeOf(block: unknown): string {
  return isRecord(block) && typeof block.type === 'string' ? block.type : '';
}

export function isBlankText(block: unknown): boolean {
  return isRecord(block) && block.type === 'text' && typeof block.text === 'string' && isBlank(block.text);
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

export function textBlock(text: string): Block {
  return { type: 'text', text };
}

/** A block without its cache marker, which moves from step to step: the very same object where it has none. */
export function withoutCacheMarker(block: unknown): unknown {
  if (!isRecord(block) || !('cache_control' in block)) return block;
  const { cache_control: _marker, ...rest } = block;
  return rest;
}
