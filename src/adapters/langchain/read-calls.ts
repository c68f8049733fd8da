import type { ToolCallPart } from '../../message.ts';
import { type Fields, isRecord, listOf, stringOf } from '../fields.ts';
import { readToolCall } from '../tool-call.ts';

/**
 * The calls that a provider is sent: those that LangChain could read. Where it could read none, the package for OpenAI sends them as they
 * came (broken JSON); the one for Anthropic sends those in the content.
 */
export function readCalls(message: Fields): ToolCallPart[] {
  const { tool_calls, additional_kwargs: extra, content } = message;
  const readable = listOf(tool_calls).flatMap(readCall);
  const calls = readable.length > 0 ? readable : listOf(isRecord(extra) ? extra.tool_calls : undefined).flatMap(readToolCall);
  const known = new Set(calls.map(({ id }) => id));
  return [
    ...calls,
    ...listOf(content)
      .flatMap(readCallBlock)
      .filter(({ id }) => !known.has(id)),
  ];
}

/** A plain message may have calls in the form of OpenAI. */
function readCall(call: unknown): ToolCallPart[] {
  if (!isRecord(call)) return [];
  if (isRecord(call.function)) return readToolCall(call);
  return [{ type: 'toolCall', id: stringOf(call.id), name: stringOf(call.name), input: call.args ?? {} }];
}

/** A streamed block has its input as text. */
function readCallBlock(block: unknown): ToolCallPart[] {
  if (!isRecord(block) || (block.type !== 'tool_use' && block.type !== 'tool_call')) return [];
  return [{ type: 'toolCall', id: stringOf(block.id), name: stringOf(block.name), input: block.input ?? block.args ?? {} }];
}
