import type { Message, Part, ToolResultPart } from '../../message.ts';
import { isBlank, isRecord } from '../fields.ts';
import { errorWithoutText } from '../placeholders.ts';
import { splitSteps } from '../split-steps.ts';
import { objectInput } from '../tool-call.ts';
import { legalToolId } from '../tool-id.ts';
import { type Block, textBlock, typeOf } from './blocks.ts';
import type { AnthropicBlock, AnthropicMessage } from './shape.ts';

const legalId = /^[a-zA-Z0-9_-]{1,64}$/;

/** A neutral message as native ones, an assistant's with its results step by step; none where nothing is left to say. */
export function writeMessage(message: Message): AnthropicMessage[] {
  return splitSteps(message).flatMap(writeStep);
}

function writeStep(message: Message): AnthropicMessage[] {
  const role = message.role === 'tool' ? 'user' : message.role;
  const content =
    role === 'user' ? writeUserParts(message.parts) : role === 'system' ? writeTexts(message.parts) : writeAssistant(message);
  return content.length > 0 ? [{ role, content }] : [];
}

/** Results first, whatever else there is after them. B041 */
function writeUserParts(parts: readonly Part[]): AnthropicBlock[] {
  const results = parts.filter((part) => part.type === 'toolResult').map(writeResult);
  return [...results, ...parts.flatMap(writeContent)];
}

function writeTexts(parts: readonly Part[]): AnthropicBlock[] {
  return parts.filter((part) => part.type === 'text' || part.type === 'native').flatMap(writeContent);
}

/** Thinking is left out as a whole, redacted too: a rebuilt prefix voids its signature, and a part of it alone is refused. */
function writeAssistant({ parts }: Message): AnthropicBlock[] {
  const blocks = parts.flatMap((part) => {
    if (part.type === 'toolCall') return [writeCall(part.id, part.name, part.input)];
    if (part.type === 'media') return [];
    return writeContent(part).filter((block) => block.type !== 'thinking' && block.type !== 'redacted_thinking');
  });
  // A final text that ends in white space is refused where it stands last in the request.
  const last = blocks.at(-1);
  if (isRecord(last) && last.type === 'text' && typeof last.text === 'string')
    blocks.splice(-1, 1, textBlock(last.text.trimEnd()));
  return blocks;
}

function writeContent(part: Part): AnthropicBlock[] {
  if (part.type === 'text') return isBlank(part.text) ? [] : [textBlock(part.text.toWellFormed())];
  return (part.type === 'media' || part.type === 'native') && isBlock(part.value) ? [part.value] : [];
}

function writeResult(part: ToolResultPart): AnthropicBlock {
  const content = part.content.flatMap(writeContent);
  const block: Block = { type: 'tool_result', tool_use_id: legalToolId(part.callId, legalId) };
  if (content.length > 0) block.content = content;
  else if (part.isError) block.content = [textBlock(errorWithoutText)];
  if (part.isError) block.is_error = true;
  return block;
}

function writeCall(id: string, name: string, input: unknown): Block {
  return { type: 'tool_use', id: legalToolId(id, legalId), name, input: objectInput(input) };
}

function isBlock(value: unknown): value is AnthropicBlock {
  return typeOf(value) !== '';
}
