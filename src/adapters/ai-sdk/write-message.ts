import type { Message, Part as NeutralPart } from '../../message.ts';
import { isBlank } from '../fields.ts';
import { unnamedTool } from '../placeholders.ts';
import { splitSteps } from '../split-steps.ts';
import { isPart, type Part, textPart } from './parts.ts';
import type { AiSdkMessage } from './shape.ts';
import { writeFile } from './write-file.ts';
import { writeOutput } from './write-output.ts';

const approval = 'tool-approval-response';

/** Parts that only a message of a tool, or what it returned, may hold. */
const answerTypes: ReadonlySet<string> = new Set([approval, 'custom', 'file-id', 'image-file-id']);

/**
 * A neutral message as the SDK's: results are a message of their own, right after the calls of an assistant, before what a user says beside
 * them. Reasoning is left out: it was written for another prefix.
 */
export function writeMessage(message: Message): AiSdkMessage[] {
  return splitSteps(message).flatMap(writeStep);
}

function writeStep({ role, parts }: Message): AiSdkMessage[] {
  if (role === 'system') return writeSystem(parts);
  if (role === 'assistant') return writeParts(role, parts.flatMap(writeAssistantPart));
  return [...writeParts('tool', parts.flatMap(writeAnswer)), ...writeParts('user', parts.flatMap(writeUserPart))];
}

function writeParts(role: string, content: readonly Part[]): AiSdkMessage[] {
  return content.length > 0 ? [{ role, content }] : [];
}

function writeSystem(parts: readonly NeutralPart[]): AiSdkMessage[] {
  const content = parts.flatMap((part) => (part.type === 'text' ? [part.text.toWellFormed()] : [])).join('\n');
  return isBlank(content) ? [] : [{ role: 'system', content }];
}

function writeAssistantPart(part: NeutralPart): Part[] {
  if (part.type === 'toolCall')
    return [{ type: 'tool-call', toolCallId: part.id, toolName: part.name, input: part.input === undefined ? {} : part.input }];
  if (part.type === 'media') return writeFile(part.value);
  return part.type === 'native' && isPart(part.value) ? [part.value] : writeText(part);
}

/** What may stand in a `tool` message. */
function writeAnswer(part: NeutralPart): Part[] {
  if (part.type === 'toolResult')
    return [{ type: 'tool-result', toolCallId: part.callId, toolName: part.name ?? unnamedTool, output: writeOutput(part) }];
  return part.type === 'native' && isPart(part.value) && part.value.type === approval ? [part.value] : [];
}

function writeUserPart(part: NeutralPart): Part[] {
  if (part.type === 'media') return writeFile(part.value);
  if (part.type !== 'native') return writeText(part);
  return isPart(part.value) && !answerTypes.has(part.value.type) ? [part.value] : [];
}

function writeText(part: NeutralPart): Part[] {
  return part.type === 'text' && !isBlank(part.text) ? [textPart(part.text.toWellFormed())] : [];
}
