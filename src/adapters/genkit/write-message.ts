import type { Message, Part, ToolCallPart, ToolResultPart } from '../../message.ts';
import { type Fields, fieldsOf, isBlank, isRecord } from '../fields.ts';
import { unnamedTool } from '../placeholders.ts';
import { splitSteps } from '../split-steps.ts';
import { nameInId } from './call-id.ts';
import { isRedactedThinking } from './parts.ts';
import type { GenkitMessage, WrittenMessage } from './shape.ts';

/**
 * A neutral message as native ones: the results of a step in one message, right after the calls of a model, before what a user says
 * beside them. Reasoning is left out, redacted too: it was written for another prefix.
 */
export function writeMessage(message: Message): GenkitMessage[] {
  return splitSteps(message).flatMap(writeStep);
}

function writeStep({ role, parts }: Message): GenkitMessage[] {
  const results: WrittenMessage = { role: 'tool', content: [] };
  const main: WrittenMessage = { role: role === 'assistant' ? 'model' : role === 'tool' ? 'user' : role, content: [] };
  /** Ends with what the library has written just now; what it carries is not added to. */
  let written: object[] | undefined;
  for (const part of parts) {
    const { partFields, messageFields }: Fields = fieldsOf(part.type === 'native' ? part.value : undefined);
    if (isRecord(partFields)) {
      written?.push({ ...written.pop(), ...partFields });
      written = undefined;
    } else if (isRecord(messageFields)) {
      // A replacement is read back by its parts, and a generated record is not what the user's message was marked as.
      if (role !== 'user' && isRecord(messageFields.metadata))
        (role === 'tool' ? results : main).metadata = messageFields.metadata;
    } else {
      const entry = part.type === 'toolResult' ? writeResult(part) : writePart(part);
      const { content } = part.type === 'toolResult' ? results : main;
      if (entry) content.push(entry);
      written = entry && part.type !== 'native' && part.type !== 'media' ? content : undefined;
    }
  }
  return (role === 'assistant' ? [main, results] : [results, main]).filter(({ content }) => content.length > 0);
}

function writePart(part: Exclude<Part, ToolResultPart>): Fields | undefined {
  if (part.type === 'text') return isBlank(part.text) ? undefined : { text: part.text.toWellFormed() };
  if (part.type === 'toolCall') return writeCall(part);
  if (part.type === 'reasoning' || isRedactedThinking(part.value)) return undefined;
  return isRecord(part.value) ? part.value : undefined;
}

function writeCall({ id, name, input }: ToolCallPart): Fields {
  // Plugins refuse a call without input.
  return { toolRequest: { name, ...writeReference(id), input: input ?? {} } };
}

/** A tool that returned nothing has an empty output: the call is answered all the same. */
function writeResult({ callId, name, content }: ToolResultPart): Fields {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text.toWellFormed()] : []));
  const parts = content.flatMap((part) => (part.type !== 'text' && isRecord(part.value) ? [part.value] : []));
  return {
    toolResponse: {
      name: nameInId(callId) ?? name ?? unnamedTool,
      ...writeReference(callId),
      ...((texts.length > 0 || parts.length === 0) && { output: texts.join('\n') }),
      ...(parts.length > 0 && { content: parts }),
    },
  };
}

function writeReference(id: string): { ref?: string } {
  return nameInId(id) === undefined ? { ref: id } : {};
}
