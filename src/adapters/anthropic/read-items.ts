import { CompactionError } from '../../errors.ts';
import { isRecord } from './blocks.ts';
import type { AnthropicMessage, AnthropicRequest } from './shape.ts';

const provider = 'anthropic';

/** @throws CompactionError `invalid-request` that names the message. */
export function readItems(request: AnthropicRequest): readonly AnthropicMessage[] {
  const messages: unknown = request.messages;
  if (!Array.isArray(messages)) throw invalid(`Expected \`messages\` to be an array, got ${describe(messages)}.`);
  messages.forEach(checkMessage);
  return request.messages;
}

function checkMessage(message: unknown, index: number): void {
  const name = `messages[${index}]`;
  if (!isRecord(message)) throw invalid(`Expected \`${name}\` to be an object, got ${describe(message)}.`);
  const { role, content } = message;
  if (role !== 'user' && role !== 'assistant' && role !== 'system')
    throw invalid(`Expected \`${name}.role\` to be user, assistant or system, got ${describe(role)}.`);
  // Absent and null content happen in stored histories: such a turn is empty, and is left out of what is rebuilt. B039
  if (typeof content !== 'string' && !Array.isArray(content) && content !== undefined && content !== null)
    throw invalid(`Expected \`${name}.content\` to be a string or an array of blocks, got ${describe(content)}.`);
}

function invalid(message: string): CompactionError {
  return new CompactionError('invalid-request', message, { provider });
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  return Array.isArray(value) ? 'an array' : typeof value;
}
