import type { Message, Part, ToolCallPart, ToolResultPart } from '../../message.ts';
import { type Fields, isBlank, isRecord } from '../fields.ts';
import { splitSteps } from '../split-steps.ts';
import { writeArguments } from '../tool-call.ts';
import { legacyName } from './function-call.ts';
import type { ChatMessage, WrittenMessage } from './shape.ts';

const provider = 'openai-chat';

/**
 * A neutral message as native ones: each result is a message of its own, right after the calls of an assistant, before what a user
 * says beside them. Reasoning is left out: it was written for another prefix.
 */
export function writeMessage(message: Message): ChatMessage[] {
  return splitSteps(message).flatMap(writeStep);
}

function writeStep({ role, parts }: Message): ChatMessage[] {
  const results: WrittenMessage[] = [];
  const content: unknown[] = [];
  const calls: ToolCallPart[] = [];
  const fields: Fields = {};
  for (const part of parts) {
    if (part.type === 'toolCall') calls.push(part);
    else if (part.type === 'toolResult') results.push(writeResult(part));
    else if (part.type === 'native' && isMessageField(part.value))
      addFields((role === 'tool' && results.at(-1)) || fields, part.value);
    else content.push(...writeContentPart(part));
  }
  const main = writeMain(role === 'tool' ? 'user' : role, content, calls, fields);
  if (!main) return results;
  return role === 'assistant' ? [main, ...results] : [...results, main];
}

function writeMain(
  role: string,
  content: readonly unknown[],
  calls: readonly ToolCallPart[],
  fields: Fields,
): WrittenMessage | undefined {
  const message: WrittenMessage = { role };
  if (content.length > 0) message.content = joinContent(content);
  Object.assign(message, writeCalls(calls));
  // A replacement is read back by its parts, and a generated record is not the word of whoever the user's message names.
  if (role !== 'user' || content.length === 0) addFields(message, fields);
  // Neither a name nor a note of the server makes a message.
  return content.length > 0 || calls.length > 0 || 'audio' in fields || 'content' in fields ? message : undefined;
}

/** What the message has of its own is never replaced. */
function addFields(message: Fields, fields: Fields): void {
  for (const [key, value] of Object.entries(fields)) if (!(key in message)) message[key] = value;
}

/** One text is a string: some servers take nothing else. */
function joinContent(content: readonly unknown[]): unknown {
  const [only] = content;
  return content.length === 1 && isRecord(only) && only.type === 'text' && typeof only.text === 'string' ? only.text : content;
}

function writeContentPart(part: Part): unknown[] {
  if (part.type === 'text') return isBlank(part.text) ? [] : [{ type: 'text', text: part.text.toWellFormed() }];
  return part.type === 'media' || part.type === 'native' ? [part.value] : [];
}

function writeCalls(calls: readonly ToolCallPart[]): Fields {
  const [only] = calls;
  if (!only) return {};
  if (calls.length === 1 && legacyName(only.id) !== undefined)
    return { function_call: { name: only.name, arguments: writeArguments(only.input, provider) } };
  return {
    tool_calls: calls.map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: writeArguments(input, provider) },
    })),
  };
}

/** A tool that returned nothing has an empty content: the call is answered all the same. */
function writeResult({ callId, content }: ToolResultPart): WrittenMessage {
  const parts = content.flatMap(writeContentPart);
  const text = parts.length > 0 ? joinContent(parts) : '';
  const name = legacyName(callId);
  return name === undefined ? { role: 'tool', tool_call_id: callId, content: text } : { role: 'function', name, content: text };
}

/** Opaque parts are content parts, which have a type beside what they hold, or fields of the message that were read one by one. */
function isMessageField(value: unknown): value is Fields {
  return isRecord(value) && !(typeof value.type === 'string' && Object.keys(value).length > 1);
}
