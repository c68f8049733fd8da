import type { Message, NativePart, Part } from '../../message.ts';
import { type Fields, fieldsOf, isNothing, stringOf } from '../fields.ts';
import { nativePart, reasoningParts, textParts } from '../neutral-parts.ts';
import { kindOf, roleOf } from './message-role.ts';
import { readCalls } from './read-calls.ts';
import { readContent, readResultContent } from './read-content.ts';
import type { LangchainMessage } from './shape.ts';

/** What packages send of `additional_kwargs`; the rest is what a provider said of its reply. */
const sentExtras = {
  assistant: ['function_call', 'audio', 'tool_outputs'],
  tool: ['type', 'customTool'],
} as const;

/**
 * A message in neutral form: what a provider is sent of it. Ids, names of agents, artifacts, usage and other metadata are left out:
 * LangChain sets them on messages as it goes.
 */
export function readMessage(item: LangchainMessage): Message[] {
  const message: Fields = { ...item };
  const role = roleOf(item);
  // What is no message for a model is carried on, and never taken for the user's.
  if (!role) return [{ role: 'assistant', parts: [...readContent(message.content), nativePart({ type: kindOf(item) })] }];
  return [{ role, parts: readParts(message, role) }];
}

function readParts(message: Fields, role: Message['role']): Part[] {
  if (role === 'tool') {
    const { tool_call_id: id, content, status } = message;
    const isError = status === 'error' && { isError: true };
    return [
      { type: 'toolResult', callId: stringOf(id), content: readResultContent(content), ...isError },
      ...readExtras(message, sentExtras.tool),
    ];
  }
  const content = readContent(message.content);
  if (role !== 'assistant') return content;
  return [
    ...readThoughts(message, content),
    ...content,
    ...readRefusal(message),
    ...readExtras(message, sentExtras.assistant),
    ...readCalls(message),
  ];
}

/** Servers that speak like OpenAI have thoughts beside the content. */
function readThoughts(message: Fields, content: readonly Part[]): Part[] {
  const { reasoning_content: text, reasoning } = extrasOf(message);
  if (content.some(({ type }) => type === 'reasoning')) return [];
  return [text, reasoning].flatMap(reasoningParts);
}

function readRefusal(message: Fields): Part[] {
  return textParts(extrasOf(message).refusal);
}

function readExtras(message: Fields, sent: readonly string[]): NativePart[] {
  const extras = extrasOf(message);
  return sent.filter((key) => !isNothing(extras[key])).map((key) => nativePart({ additional_kwargs: { [key]: extras[key] } }));
}

function extrasOf({ additional_kwargs: extras }: Fields): Fields {
  return fieldsOf(extras);
}
