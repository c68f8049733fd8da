import { checkItems, isNoContent, type MessageRules } from '../check-items.ts';
import { isRecord } from '../fields.ts';
import { describeValue, invalidRequest, refuseOtherShape } from '../invalid-request.ts';
import { splitMessages } from './merge-messages.ts';
import { inputOf } from './request-input.ts';
import type { BedrockMessage, BedrockRequest } from './shape.ts';

const provider = 'bedrock';

const rules: MessageRules = {
  provider,
  field: 'messages',
  roles: ['user', 'assistant', 'system'],
  expectContent: (content) => (Array.isArray(content) || isNoContent(content) ? undefined : 'an array of blocks'),
};

/** @throws CompactionError `invalid-request` that names the message. */
export function readItems(request: BedrockRequest): readonly BedrockMessage[] {
  const input: unknown = isRecord(request) ? inputOf(request) : undefined;
  if (!isRecord(input))
    throw invalidRequest(provider, `Expected the input of a Converse command, got ${describeValue(request)}.`);
  const { messages } = input;
  // A request that names a managed prompt may have no messages of its own.
  if (messages === undefined || messages === null) {
    refuseOtherShape(provider, 'messages', input);
    return [];
  }
  checkItems(messages, rules);
  // The check has shown that they are messages.
  return splitMessages(messages as readonly BedrockMessage[]);
}
