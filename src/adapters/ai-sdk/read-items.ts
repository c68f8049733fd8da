import { checkItems, type MessageRules } from '../check-items.ts';
import { isRecord } from '../fields.ts';
import type { AiSdkMessage, AiSdkRequest } from './shape.ts';

const rules: MessageRules = {
  provider: 'ai-sdk',
  field: 'prompt',
  roles: ['system', 'user', 'assistant', 'tool'],
  expectContent: (content, role) => {
    if (typeof content === 'string') return undefined;
    if (role === 'system') return 'a text';
    return Array.isArray(content) ? undefined : 'an array of parts';
  },
};

/** @throws CompactionError `invalid-request` that names the message. */
export function readItems(request: AiSdkRequest): readonly AiSdkMessage[] {
  checkItems(isRecord(request) ? request.prompt : undefined, rules);
  return request.prompt;
}
