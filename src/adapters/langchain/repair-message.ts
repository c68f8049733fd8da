import type { Role } from '../../message.ts';
import { type Fields, fieldsOf, isBlank, isNothing, isRecord, listOf } from '../fields.ts';
import { copyMessage } from './copy-message.ts';
import { roleOf } from './message-role.ts';
import { readCalls } from './read-calls.ts';
import { isCallBlock, textOfBlock } from './read-content.ts';
import type { LangchainMessage } from './shape.ts';

/**
 * See `ProviderAdapter.repairItem`. What one provider or another refuses: blank text, unsigned thinking, a message that says nothing. The
 * result of a tool may be empty. What is no message for a model stays as it is.
 */
export function repairMessage(item: LangchainMessage): LangchainMessage | undefined {
  const role = roleOf(item);
  if (!role) return item;
  const message: Fields = { ...item };
  const content = repairContent(message.content, role);
  const repaired = content === message.content ? item : copyMessage(item, { content });
  return role === 'tool' || saysSomething({ ...message, content }, role) ? repaired : undefined;
}

function repairContent(content: unknown, role: Role): unknown {
  if (typeof content === 'string') return isBlank(content) ? '' : content;
  if (!Array.isArray(content)) return isNothing(content) ? '' : content;
  const kept = content.filter((block: unknown) => isAccepted(block, role));
  if (kept.length === content.length) return content;
  return kept.length === 0 ? '' : kept;
}

function isAccepted(block: unknown, role: Role): boolean {
  if (isNothing(block)) return false;
  const text = textOfBlock(block);
  if (text !== undefined) return !isBlank(text);
  if (!isRecord(block)) return true;
  if (block.type === 'text') return !isNothing(block.text);
  // Anthropic's own: a compaction that came to nothing is refused, and so are thoughts without a signature. B038, B186
  if (block.type === 'compaction') return !isNothing(block.content);
  if (block.type === 'thinking') return role === 'assistant' && !isNothing(block.signature);
  if (block.type === 'redacted_thinking') return role === 'assistant' && !isNothing(block.data);
  return true;
}

/** Thoughts alone, as a reply that was cut leaves them, say nothing. */
export function saysSomething(message: Fields, role: Role): boolean {
  const { content, additional_kwargs: extra } = message;
  if (typeof content === 'string' ? content !== '' : !isNothing(content) && !listOf(content).every(isSilent)) return true;
  if (role !== 'assistant') return false;
  const extras = fieldsOf(extra);
  return (
    readCalls(message).length > 0 || ['function_call', 'audio', 'refusal', 'tool_outputs'].some((key) => !isNothing(extras[key]))
  );
}

function isSilent(block: unknown): boolean {
  if (isCallBlock(block)) return true; // heard where it is among the calls
  return isRecord(block) && /^(redacted_)?thinking$|^reasoning/.test(String(block.type));
}
