import type { Message, Part, ToolCallPart, ToolResultPart } from '../../message.ts';
import { type Fields, isBlank, isRecord, stringOf } from '../fields.ts';
import { splitSteps } from '../split-steps.ts';
import { writeArguments } from '../tool-call.ts';
import type { ResponsesItem, WrittenItem } from './shape.ts';

/**
 * A neutral message as native items, an assistant's with its results step by step: a message, each call and each result are items of
 * their own. Items have no id of the server: it would look for them. Reasoning is left out: it was written for another prefix.
 */
export function writeMessage(message: Message): ResponsesItem[] {
  return splitSteps(message).flatMap(writeStep);
}

function writeStep({ role, parts }: Message): ResponsesItem[] {
  const results: ResponsesItem[] = [];
  const items: ResponsesItem[] = [];
  const author = role === 'tool' ? 'user' : role;
  let content: unknown[] = [];
  let messageFields: Fields = {};
  let owner: WrittenItem | undefined;
  const endMessage = (): void => {
    if (content.length > 0) items.push({ type: 'message', role: author, ...messageFields, content: joinContent(content) });
    content = [];
    messageFields = {};
  };
  for (const part of parts) {
    if (part.type === 'toolCall') {
      endMessage();
      owner = writeCall(part);
      items.push(owner);
    } else if (part.type === 'toolResult') {
      owner = writeResult(part);
      results.push(owner);
    } else if (part.type === 'native' && isFields(part.value, owner)) {
      if (owner) addFields(owner, part.value);
      // A generated record is not the word of whoever the user's message names.
      else if (author !== 'user') messageFields = { ...part.value, ...messageFields };
    } else if (isItem(part, role)) {
      endMessage();
      // What was read as a whole item goes out as one.
      (role === 'tool' ? results : items).push(part.value as ResponsesItem);
    } else content.push(...writeContentPart(part, author));
  }
  endMessage();
  return [...results, ...items];
}

/** Where a part stands for a whole item, not for a piece of content. The user's parts are always content. */
function isItem(part: Part, role: Message['role']): part is Part & { value: Fields } {
  if ((part.type !== 'native' && part.type !== 'media') || role === 'user' || !isRecord(part.value)) return false;
  const type = stringOf(part.value.type);
  return type !== '' && type !== 'reasoning' && !/^(?:input|output)_|^(?:summary_|reasoning_)?text$|^refusal$/.test(type);
}

/** Fields of an item that were read one by one; of a call or a result also its kind. */
function isFields(value: unknown, owner: WrittenItem | undefined): value is Fields {
  return isRecord(value) && (typeof value.type !== 'string' || (owner !== undefined && Object.keys(value).length === 1));
}

function writeContentPart(part: Part, author: string): unknown[] {
  if (part.type === 'text') {
    const type = author === 'assistant' ? 'output_text' : 'input_text';
    return isBlank(part.text) ? [] : [{ type, text: part.text.toWellFormed() }];
  }
  if (part.type === 'media') return author === 'assistant' ? [] : [part.value];
  const sealed = part.type === 'native' && isRecord(part.value) && part.value.type === 'reasoning';
  return part.type === 'native' && !sealed ? [part.value] : [];
}

/** One text is a string: every server takes that, from the user and from the assistant. */
function joinContent(content: readonly unknown[]): unknown {
  const [only] = content;
  const text = isRecord(only) && (only.type === 'input_text' || only.type === 'output_text') ? only.text : undefined;
  return content.length === 1 && typeof text === 'string' ? text : content;
}

function writeCall({ id, name, input }: ToolCallPart): WrittenItem {
  return { type: 'function_call', call_id: id, name, arguments: writeArguments(input, 'openai-responses') };
}

/** A tool that returned nothing has an empty output: the call is answered all the same. */
function writeResult({ callId, content }: ToolResultPart): WrittenItem {
  const parts = content.flatMap((part) => writeContentPart(part, 'user'));
  return { type: 'function_call_output', call_id: callId, output: parts.length > 0 ? joinContent(parts) : '' };
}

/** What an item has of its own is never replaced, but for the kind of its call. */
function addFields(item: WrittenItem, { type, ...fields }: Fields): void {
  for (const [key, value] of Object.entries(fields)) if (!(key in item)) item[key] = value;
  if (typeof type !== 'string') return;
  item.type = type;
  if (type !== 'custom_tool_call') return;
  item.input = item.arguments;
  delete item.arguments;
}
