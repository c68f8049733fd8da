import type { Message, ToolCallPart, ToolResultPart } from '../message.ts';
import type { NativeItem, StoredMessages } from './event.ts';

/** A call and what came of it. */
export interface ReturnedCall {
  id: string;
  /** Undefined where the call itself is not in the same turn. */
  name: string | undefined;
  input: unknown;
  output: ToolResultPart['content'];
  isError: boolean;
}

/**
 * What is stored of a tool's output: a text, or parts as they came. The running loop keeps the whole.
 *
 * @example
 * const retainOutput: RetainOutput = ({ name, output }) => (name === 'read_secret' ? '(not stored)' : output);
 */
export type RetainOutput = (call: ReturnedCall) => string | ToolResultPart['content'];

/** The messages with what is retained of each output. Items of the provider that hold more than that are left out with it. */
export function retainOutputs(stored: StoredMessages, retainOutput: RetainOutput | undefined): StoredMessages {
  if (!retainOutput) return stored;
  const calls = new Map<string, ToolCallPart>();
  const changed = new Set<number>();
  const messages = stored.messages.map((message, index): Message => {
    const parts = message.parts.map((part) => {
      if (part.type === 'toolCall') calls.set(part.id, part);
      if (part.type !== 'toolResult') return part;
      const call = calls.get(part.callId);
      const { content: output, callId: id, isError = false } = part;
      const retained = retainOutput({ id, name: call?.name ?? part.name, input: call?.input, output, isError });
      return retained === output ? part : { ...part, content: asContent(retained) };
    });
    if (parts.every((part, place) => part === message.parts[place])) return message;
    changed.add(index);
    return { ...message, parts };
  });
  const items = stored.native?.items.filter((item) => !holdsAny(item, changed));
  return stored.native && items && items.length > 0 ? { messages, native: { ...stored.native, items } } : { messages };
}

function holdsAny({ from, count }: NativeItem, indexes: ReadonlySet<number>): boolean {
  for (let index = from; index < from + count; index++) if (indexes.has(index)) return true;
  return false;
}

function asContent(retained: string | ToolResultPart['content']): ToolResultPart['content'] {
  if (typeof retained !== 'string') return retained;
  return retained === '' ? [] : [{ type: 'text', text: retained }];
}
