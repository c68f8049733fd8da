import type { Message, Part, ToolCallPart, ToolResultPart } from '../../message.ts';
import { type Fields, isBlank, isRecord } from '../fields.ts';
import { errorWithoutText } from '../placeholders.ts';
import { splitSteps } from '../split-steps.ts';
import { objectInput } from '../tool-call.ts';
import { nameInId } from './function-parts.ts';
import { isPartFields } from './part-fields.ts';
import type { GeminiContent } from './shape.ts';

/**
 * A neutral message as contents; none where nothing is left to say. Results stand by themselves, in front of what a user says beside them.
 * There is no place for a system text among the contents: the user says it.
 */
export function writeMessage(message: Message): GeminiContent[] {
  return splitSteps(message).flatMap(writeStep);
}

function writeStep({ role, parts }: Message): GeminiContent[] {
  const results = parts.filter((part) => part.type === 'toolResult').map(writeResult);
  const rest = writeParts(parts, role === 'assistant');
  return role === 'assistant' ? writeContent('model', rest) : [...writeContent('user', results), ...writeContent('user', rest)];
}

function writeContent(role: 'user' | 'model', parts: readonly Fields[]): GeminiContent[] {
  return parts.length > 0 ? [{ role, parts }] : [];
}

/** Thoughts are left out, with their signatures: they were thought for another prefix. Those of calls and texts go with them. */
function writeParts(parts: readonly Part[], isModel: boolean): Fields[] {
  const written: Fields[] = [];
  const calls = new Map<string, Fields>();
  let lastText: Fields | undefined;
  for (const part of parts) {
    const before = lastText;
    lastText = undefined;
    if (part.type === 'text') {
      if (isBlank(part.text)) continue;
      lastText = { text: part.text.toWellFormed() };
      written.push(lastText);
    } else if (part.type === 'toolCall' && isModel) {
      const call = writeCall(part);
      calls.set(part.id, call);
      written.push(call);
    } else if (part.type === 'media' || part.type === 'native') {
      if (!isPartFields(part.value)) written.push(...writeNative(part.value));
      else {
        const { of, partFields } = part.value;
        const owner = of === 'text' ? before : of === 'thought' ? undefined : calls.get(of.call);
        if (owner) Object.assign(owner, partFields);
      }
    }
  }
  return written;
}

function writeNative(value: unknown): Fields[] {
  return isRecord(value) && value.thought !== true ? [value] : [];
}

/** An id that stands for none is not sent. */
function writeCall({ id, name, input }: ToolCallPart): Fields {
  return { functionCall: { ...writeId(id), name, args: objectInput(input) } };
}

/** Where the name is not known, it is added once the content stands behind its call. */
export function writeResult({ callId, name: tool, content, isError }: ToolResultPart): Fields {
  const text = content
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
    .toWellFormed();
  const attachments = content.flatMap((part) => (part.type === 'text' ? [] : writeNative(part.value)));
  const name = nameInId(callId);
  return {
    functionResponse: {
      ...(name === undefined ? { ...writeId(callId), ...(tool && { name: tool }) } : { name }),
      response: isError ? { error: isBlank(text) ? errorWithoutText : text } : { output: text },
      ...(attachments.length > 0 && { parts: attachments }),
    },
  };
}

function writeId(id: string): Fields {
  return id === '' || nameInId(id) !== undefined ? {} : { id };
}
