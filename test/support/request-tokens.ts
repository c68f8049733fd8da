import { loadTokenCounter } from '../../src/budget/tokenizer.ts';

const tokensPerMessage = 4;
const tokensPerImage = 1500;
const textTokens = await loadTokenCounter();
const counted = new WeakMap<object, number>();

/**
 * Tokens of a request body of OpenAI Chat or Anthropic Messages, by o200k: text, thinking, calls, results, system and tools, 4 for
 * each message and 1,500 for each image whatever its data. What was counted once is remembered by object, so that a conversation
 * that grows costs what is new: messages must not be edited in place.
 *
 * @example
 * requestTokens({ model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }] }); // 5
 */
export function requestTokens(body: unknown): number {
  const { system, tools, messages } = fieldsOf(body);
  let tokens = partTokens(system) + remember(tools, jsonTokens);
  if (Array.isArray(messages)) for (const message of messages) tokens += remember(message, messageTokens);
  return tokens;
}

function remember(value: unknown, count: (value: unknown) => number): number {
  if (typeof value !== 'object' || value === null) return count(value);
  const tokens = counted.get(value) ?? count(value);
  counted.set(value, tokens);
  return tokens;
}

function messageTokens(message: unknown): number {
  const { content, tool_calls: calls } = fieldsOf(message);
  return tokensPerMessage + partTokens(content) + partTokens(calls);
}

/** A text, a list of parts, or one part, whose text may lie deeper. */
function partTokens(part: unknown): number {
  if (typeof part === 'string') return textTokens(part);
  if (Array.isArray(part)) return sum(part);
  if (typeof part !== 'object' || part === null) return 0;
  const { type, text, thinking, name, input, function: called, arguments: json, content } = fieldsOf(part);
  if (type === 'image' || type === 'image_url') return tokensPerImage;
  return sum([text, thinking, name, json, content, called]) + jsonTokens(input);
}

function sum(parts: readonly unknown[]): number {
  return parts.reduce<number>((tokens, part) => tokens + partTokens(part), 0);
}

function jsonTokens(value: unknown): number {
  return value === undefined || value === null ? 0 : textTokens(JSON.stringify(value));
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
