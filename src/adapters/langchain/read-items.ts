import { isRecord } from '../fields.ts';
import { fieldNames, invalidField, invalidRequest } from '../invalid-request.ts';
import { kindOf, roleOf } from './message-role.ts';
import type { LangchainMessage, LangchainRequest } from './shape.ts';

const provider = 'langchain';

const knownKinds = new Set(['function', 'remove']);

/** @throws CompactionError `invalid-request` that names the message. */
export function readItems(request: LangchainRequest): readonly LangchainMessage[] {
  const messages: unknown = isRecord(request) ? request.messages : undefined;
  if (!Array.isArray(messages)) throw invalidField(provider, 'messages', 'an array', messages);
  messages.forEach((message: unknown, index) => {
    if (!isRecord(message)) throw invalidField(provider, `messages[${index}]`, 'a message or `{ role, content }`', message);
    if (kindOf(message) === '')
      throw invalidRequest(
        provider,
        `Expected \`messages[${index}]\` to have a type or a role, got the fields ${fieldNames(message)}.`,
      );
    // An older form of OpenAI's; and what a state drops before a model sees it.
    if (!roleOf(message) && !knownKinds.has(kindOf(message)))
      throw invalidField(provider, `messages[${index}].role`, 'human, ai, system or tool', kindOf(message));
  });
  return request.messages;
}
