import type { MediaPart, Message, NativePart, Part, TextPart, ToolResultPart } from '../../message.ts';
import { isBlank, listOf, stringOf } from '../fields.ts';
import { reasoningParts, userMessages } from '../neutral-parts.ts';
import { blocksOf, citedText, isCachePoint, isClientCall, memberOf, textOfBlock } from './blocks.ts';
import { readMedia } from './read-media.ts';
import type { BedrockMessage } from './shape.ts';

/**
 * A message in neutral form. A user message may hold results and what the user said beside them: a `tool` message, then a `user`
 * message. Cache points leave no trace, sources beside a text neither; blank text is no part.
 */
export function readItem(item: BedrockMessage): Message[] {
  const blocks = blocksOf(item);
  if (item.role === 'assistant') return [{ role: 'assistant', parts: blocks.flatMap(readAssistantBlock) }];
  if (item.role === 'system') return [{ role: 'system', parts: blocks.flatMap(readBlock) }];
  const results: ToolResultPart[] = [];
  const rest: Part[] = [];
  for (const block of blocks) {
    const result = readToolResult(block);
    if (result) results.push(result);
    else rest.push(...readBlock(block));
  }
  return userMessages(results, rest);
}

function readAssistantBlock(block: unknown): Part[] {
  const call = isClientCall(block) ? memberOf(block, 'toolUse') : undefined;
  if (call && typeof call.name === 'string')
    return [{ type: 'toolCall', id: stringOf(call.toolUseId), name: call.name, input: call.input }];
  const reasoning = memberOf(memberOf(block, 'reasoningContent'), 'reasoningText');
  return reasoning ? readReasoning(stringOf(reasoning.text), stringOf(reasoning.signature)) : readBlock(block);
}

/** The signature stands as an opaque part, so that reasoning signed otherwise is another content. It is never written. */
function readReasoning(text: string, signature: string): Part[] {
  const parts: Part[] = reasoningParts(text);
  if (signature !== '') parts.push({ type: 'native', value: { reasoningContent: { signature } } });
  return parts;
}

function readToolResult(block: unknown): ToolResultPart | undefined {
  const result = memberOf(block, 'toolResult');
  if (!result) return undefined;
  const content = listOf(result.content).flatMap(readResultBlock);
  const part: ToolResultPart = { type: 'toolResult', callId: stringOf(result.toolUseId), content };
  return result.status === 'error' ? { ...part, isError: true } : part;
}

/** What a tool returned as JSON is its text. */
function readResultBlock(block: unknown): (TextPart | MediaPart | NativePart)[] {
  const json = isJson(block) ? JSON.stringify(block.json) : undefined;
  return json === undefined ? readBlock(block) : [{ type: 'text', text: json }];
}

function isJson(block: unknown): block is { json: unknown } {
  return typeof block === 'object' && block !== null && 'json' in block;
}

function readBlock(block: unknown): (TextPart | MediaPart | NativePart)[] {
  if (isCachePoint(block)) return [];
  const text = textOfBlock(block) ?? citedText(block);
  if (text !== undefined) return isBlank(text) ? [] : [{ type: 'text', text }];
  return [readMedia(block) ?? { type: 'native', value: block }];
}
