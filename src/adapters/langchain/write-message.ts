import { copyDeep } from '../../copy.ts';
import type { Message, Part, ToolCallPart, ToolResultPart } from '../../message.ts';
import { type Fields, isBlank, isRecord } from '../fields.ts';
import { splitSteps } from '../split-steps.ts';
import { objectInput } from '../tool-call.ts';
import { copyMessage } from './copy-message.ts';
import type { LangchainBlock, LangchainMessage, LangchainMessageClasses } from './shape.ts';

/** Makes messages of the application's own classes. */
export interface MessageWriter {
  /** A neutral message as native ones: each result is a message of its own, right after the calls. Reasoning is left out. */
  write(message: Message): LangchainMessage[];
  /**
   * A copy of a message that was written here; any other as it is. LangChain and its middleware set fields of the messages that they are
   * given, and what the library remembers must stay as it was.
   */
  handOut(item: LangchainMessage): LangchainMessage;
}

export function createWriter(classes: LangchainMessageClasses): MessageWriter {
  const written = new WeakSet<LangchainMessage>();
  return {
    write(message) {
      const items = splitSteps(message).flatMap((step) => writeStep(step, classes));
      for (const item of items) written.add(item);
      return items;
    },
    handOut(item) {
      if (!written.has(item)) return item;
      const { content, additional_kwargs, response_metadata }: Fields = { ...item };
      return copyMessage(item, copyDeep({ content, additional_kwargs, response_metadata }));
    },
  };
}

function writeStep({ role, parts }: Message, classes: LangchainMessageClasses): LangchainMessage[] {
  const results: LangchainMessage[] = [];
  const calls: ToolCallPart[] = [];
  const blocks: LangchainBlock[] = [];
  const extras: Fields = {};
  for (const part of parts) {
    if (part.type === 'toolResult') results.push(writeResult(part, classes));
    else if (part.type === 'toolCall') calls.push(part);
    else if (part.type === 'native' && isExtra(part.value)) {
      const result = role === 'tool' ? results.at(-1) : undefined;
      if (result) addExtras(result, part.value.additional_kwargs);
      else Object.assign(extras, part.value.additional_kwargs);
    } else blocks.push(...writeBlock(part));
  }
  if (role === 'assistant') {
    const isSilent = blocks.length === 0 && calls.length === 0 && Object.keys(extras).length === 0;
    return isSilent ? results : [writeAnswer(blocks, calls, extras, classes), ...results];
  }
  if (blocks.length === 0) return results;
  if (role === 'system') return [...results, new classes.SystemMessage({ content: joinTexts(blocks) })];
  // A replacement is read back by its parts, and a generated record is not what stood beside the user's message.
  return [...results, new classes.HumanMessage({ content: blocks.length === 1 ? joinTexts(blocks) : blocks })];
}

function writeAnswer(
  blocks: LangchainBlock[],
  calls: readonly ToolCallPart[],
  extras: Fields,
  { AIMessage }: LangchainMessageClasses,
): LangchainMessage {
  const tool_calls = calls.map((call) => ({ type: 'tool_call' as const, ...writeCall(call) }));
  const message = new AIMessage({ content: joinTexts(blocks), tool_calls });
  addExtras(message, extras);
  return message;
}

function writeResult({ callId, content, isError }: ToolResultPart, { ToolMessage }: LangchainMessageClasses): LangchainMessage {
  const blocks = content.flatMap(writeBlock);
  return new ToolMessage({ content: joinTexts(blocks), tool_call_id: callId, ...(isError && { status: 'error' }) });
}

function writeCall({ id, name, input }: ToolCallPart): { id: string; name: string; args: Fields } {
  return { id, name, args: objectInput(input) };
}

function writeBlock(part: Part): LangchainBlock[] {
  if (part.type === 'text') return isBlank(part.text) ? [] : [{ type: 'text', text: part.text.toWellFormed() }];
  // Carried as it is, whatever it is: it was a block of a message before.
  return part.type === 'media' || part.type === 'native' ? [part.value as LangchainBlock] : [];
}

/** Texts alone are one text: packages differ in what else they take from an assistant and from a tool. */
function joinTexts(blocks: LangchainBlock[]): string | LangchainBlock[] {
  const texts = blocks.map((block) => (isRecord(block) && block.type === 'text' ? block.text : undefined));
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : blocks;
}

function addExtras(message: LangchainMessage, extras: Fields): void {
  if ('additional_kwargs' in message && isRecord(message.additional_kwargs)) Object.assign(message.additional_kwargs, extras);
}

function isExtra(value: unknown): value is { additional_kwargs: Fields } {
  return isRecord(value) && isRecord(value.additional_kwargs) && value.type === undefined;
}
