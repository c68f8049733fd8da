import type { MediaPart, Message, NativePart, Part, TextPart, ToolResultPart } from '../../message.ts';
import { type Fields, isBlank, isRecord, stringOf } from '../fields.ts';
import { reasoningParts, userMessages } from '../neutral-parts.ts';
import { blocksOf, withoutCacheMarker } from './blocks.ts';
import { readMedia } from './read-media.ts';
import type { AnthropicMessage } from './shape.ts';

/**
 * A message in neutral form. A user message may hold results and what the user said beside them: a `tool` message, then a `user`
 * message. Cache markers and fields that only replies carry (`citations: null`) leave no trace; blank text is no part.
 */
export function readItem(item: AnthropicMessage): Message[] {
  const blocks = blocksOf(item);
  if (item.role !== 'user') {
    const role = item.role === 'system' ? 'system' : 'assistant';
    return [{ role, parts: blocks.flatMap((block) => (role === 'assistant' ? readAssistantBlock(block) : readPart(block))) }];
  }
  const results: ToolResultPart[] = [];
  const rest: Part[] = [];
  for (const block of blocks) {
    const result = readToolResult(block);
    if (result) results.push(result);
    else rest.push(...readPart(block));
  }
  return userMessages(results, rest);
}

function readAssistantBlock(block: unknown): Part[] {
  if (isRecord(block)) {
    if (block.type === 'tool_use' && typeof block.name === 'string')
      return [{ type: 'toolCall', id: stringOf(block.id), name: block.name, input: block.input }];
    if (block.type === 'thinking' && typeof block.thinking === 'string') return readThinking(block.thinking, block.signature);
  }
  return readPart(block);
}

/** The signature stands as an opaque part, so that thinking signed otherwise is another content. It is no block and is never written. */
function readThinking(text: string, signature: unknown): Part[] {
  const parts: Part[] = reasoningParts(text);
  if (typeof signature === 'string' && signature !== '') parts.push({ type: 'native', value: { signature } });
  return parts;
}

function readToolResult(block: unknown): ToolResultPart | undefined {
  if (!isRecord(block) || block.type !== 'tool_result') return undefined;
  const content = readResultContent(block);
  const part: ToolResultPart = { type: 'toolResult', callId: stringOf(block.tool_use_id), content };
  return block.is_error === true ? { ...part, isError: true } : part;
}

function readResultContent({ content }: Fields): (TextPart | MediaPart | NativePart)[] {
  if (typeof content === 'string') return readPart({ type: 'text', text: content });
  return Array.isArray(content) ? content.flatMap(readPart) : [];
}

function readPart(block: unknown): (TextPart | MediaPart | NativePart)[] {
  if (isRecord(block)) {
    if (block.type === 'text' && typeof block.text === 'string')
      return isBlank(block.text) ? [] : [{ type: 'text', text: block.text }];
    if (block.type === 'image' || block.type === 'document') return [readMedia(block, block.type)];
  }
  return [{ type: 'native', value: withoutCacheMarker(block) }];
}
