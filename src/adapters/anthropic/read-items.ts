import { checkItems, isNoContent, type MessageRules } from '../check-items.ts';
import type { AnthropicMessage, AnthropicRequest } from './shape.ts';

const rules: MessageRules = {
  provider: 'anthropic',
  field: 'messages',
  roles: ['user', 'assistant', 'system'],
  expectContent: (content) =>
    typeof content === 'string' || Array.isArray(content) || isNoContent(content) ? undefined : 'a string or an array of blocks',
};

/** @throws CompactionError `invalid-request` that names the message. */
export function readItems(request: AnthropicRequest): readonly AnthropicMessage[] {
  checkItems(request.messages, rules);
  return request.messages;
}
