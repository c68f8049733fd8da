import { checkItems, type MessageRules } from '../check-items.ts';
import { isRecord } from '../fields.ts';
import type { GenkitMessage, GenkitRequest } from './shape.ts';

const rules: MessageRules = {
  provider: 'genkit',
  field: 'messages',
  roles: ['system', 'user', 'model', 'tool'],
  expectContent: (content) => (Array.isArray(content) || typeof content === 'string' ? undefined : 'an array of parts'),
};

/** @throws CompactionError `invalid-request` that names the message. */
export function readItems(request: GenkitRequest): readonly GenkitMessage[] {
  checkItems(isRecord(request) ? request.messages : undefined, rules);
  return request.messages;
}
