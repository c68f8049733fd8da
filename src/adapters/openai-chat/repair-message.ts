import { type Fields, isBlank, isNothing, isRecord, listOf, sentFields } from '../fields.ts';
import { repairArguments } from '../tool-call.ts';
import { chatRoles } from './read-message.ts';
import type { ChatMessage, WrittenMessage } from './shape.ts';

/**
 * See `ProviderAdapter.repairItem`. Arguments that are broken JSON stay: nobody knows what they were to be, and the history may still
 * need the call. Empty ones become an empty object. A message with an unknown role stays as it is.
 */
export function repairMessage(item: ChatMessage): ChatMessage | undefined {
  if (!chatRoles.has(item.role)) return item;
  const message: WrittenMessage = { ...sentFields(item), role: item.role };
  repairContent(message);
  if (item.role === 'assistant') repairCalls(message);
  if (!says(message)) return undefined;
  return sameFields(message, item) ? item : message;
}

function repairContent(message: WrittenMessage): void {
  const { content } = message;
  if (Array.isArray(content)) {
    const kept = content.filter((part) => !isNothing(part) && !isBlankPart(part));
    if (kept.length < content.length) message.content = kept;
  }
  if (!isBlankContent(message.content)) return;
  // The result of a tool may be empty, but it must be there. A call may stand without content, but not beside a blank one.
  if (message.role === 'tool' || message.role === 'function')
    message.content = typeof content === 'string' ? message.content : '';
  else if (content !== undefined && content !== '') message.content = null;
}

function isBlankPart(part: unknown): boolean {
  return isRecord(part) && part.type === 'text' && (part.text === null || part.text === undefined || isBlankContent(part.text));
}

function isBlankContent(content: unknown): boolean {
  return typeof content === 'string' ? isBlank(content) : isNothing(content);
}

function repairCalls(message: Fields): void {
  if ('tool_calls' in message) {
    const calls = listOf(message.tool_calls);
    const kept = calls.filter(isRecord).map(repairToolCall);
    if (kept.length === 0) delete message.tool_calls;
    else if (kept.length < calls.length || kept.some((call, index) => call !== calls[index])) message.tool_calls = kept;
  }
  if (isRecord(message.function_call)) message.function_call = repairArguments(message.function_call);
}

/** False for a message that the provider refuses as empty. The result of a tool is never empty: its call must be answered. */
export function says(message: WrittenMessage): boolean {
  if (message.role === 'tool' || message.role === 'function' || !isBlankContent(message.content)) return true;
  return (
    message.role === 'assistant' && ['tool_calls', 'function_call', 'audio', 'refusal'].some((key) => !isNothing(message[key]))
  );
}

function sameFields(left: Fields, right: ChatMessage): boolean {
  const other = sentFields(right);
  const keys = Object.keys(left);
  return keys.length === Object.keys(other).length && keys.every((key) => Object.is(left[key], other[key]));
}

/** A call with an empty object in place of empty arguments; the same object where nothing is wrong. */
function repairToolCall(call: Fields): Fields {
  if (!isRecord(call.function)) return call;
  const repaired = repairArguments(call.function);
  return repaired === call.function ? call : { ...call, function: repaired };
}
