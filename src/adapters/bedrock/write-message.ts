import type { Message, Part, ToolResultPart } from '../../message.ts';
import { type Fields, isBlank, isRecord } from '../fields.ts';
import { errorWithoutText } from '../placeholders.ts';
import { splitSteps } from '../split-steps.ts';
import { objectInput } from '../tool-call.ts';
import { legalToolId } from '../tool-id.ts';
import { isReasoning, memberOf, textOfBlock } from './blocks.ts';
import { reviveBytes } from './revive-bytes.ts';
import type { BedrockBlock, BedrockMessage } from './shape.ts';

const legalId = /^[a-zA-Z0-9_.:-]{1,64}$/;

/** The provider refuses a document without a text beside it. */
const textBesideDocument = 'See the document.';

/** A neutral message as native ones, an assistant's with its results step by step; none where nothing is left to say. */
export function writeMessage(message: Message): BedrockMessage[] {
  return splitSteps(message).flatMap(writeStep);
}

function writeStep({ role, parts }: Message): BedrockMessage[] {
  const content = role === 'assistant' ? writeAssistant(parts) : role === 'system' ? writeTexts(parts) : writeUserParts(parts);
  return content.length > 0 ? [{ role: role === 'tool' ? 'user' : role, content }] : [];
}

/** Results first, whatever else there is after them. B041 */
function writeUserParts(parts: readonly Part[]): BedrockBlock[] {
  const results = parts.filter((part) => part.type === 'toolResult').map(writeResult);
  return [...results, ...withTextBesideDocuments(parts.flatMap(writeContent))];
}

export function withTextBesideDocuments(blocks: BedrockBlock[]): BedrockBlock[] {
  if (!blocks.some((block) => memberOf(block, 'document')) || blocks.some((block) => textOfBlock(block) !== undefined))
    return blocks;
  return [...blocks, { text: textBesideDocument }];
}

function writeTexts(parts: readonly Part[]): BedrockBlock[] {
  return parts.filter((part) => part.type === 'text' || part.type === 'native').flatMap(writeContent);
}

/** Reasoning is left out as a whole, redacted too: a rebuilt prefix voids its signature, and a part of it alone is refused. */
function writeAssistant(parts: readonly Part[]): BedrockBlock[] {
  const blocks = parts.flatMap((part) => {
    if (part.type === 'toolCall') return [writeCall(part.id, part.name, part.input)];
    return part.type === 'media' ? [] : writeContent(part).filter((block) => !isReasoning(block));
  });
  // A final text that ends in white space is refused where it stands last in the request.
  const last = textOfBlock(blocks.at(-1));
  if (last !== undefined) blocks.splice(-1, 1, { text: last.trimEnd() });
  return blocks;
}

function writeContent(part: Part): BedrockBlock[] {
  if (part.type === 'text') return isBlank(part.text) ? [] : [{ text: part.text.toWellFormed() }];
  return (part.type === 'media' || part.type === 'native') && isRecord(part.value) ? [reviveBytes(part.value)] : [];
}

function writeResult({ callId, content, isError }: ToolResultPart): BedrockBlock {
  const blocks = content.flatMap(writeContent);
  const result: Fields = { toolUseId: legalToolId(callId, legalId), content: blocks };
  if (isError && blocks.length === 0) result.content = [{ text: errorWithoutText }];
  if (isError) result.status = 'error';
  return { toolResult: result };
}

function writeCall(id: string, name: string, input: unknown): BedrockBlock {
  return { toolUse: { toolUseId: legalToolId(id, legalId), name, input: objectInput(input) } };
}
