import { isNothing, isRecord, listOf } from '../fields.ts';
import { liftSystem } from '../lift-system.ts';
import { copyMessage } from './copy-message.ts';
import { roleOf } from './message-role.ts';
import type { LangchainBlock, LangchainMessage, LangchainMessageClasses, LangchainRequest } from './shape.ts';

/** The request with these messages, and with what the system says later joined to what it says in front: there, or beside the messages. */
export function withMessages<R extends LangchainRequest>(
  request: R,
  items: readonly LangchainMessage[],
  { SystemMessage }: LangchainMessageClasses,
): R {
  const { systemMessage, systemPrompt } = request;
  let beside: LangchainMessage | undefined;
  const messages = liftSystem(
    items,
    request.messages,
    (item) => roleOf(item) === 'system',
    (front, late) => {
      const first = front ?? systemMessage ?? new SystemMessage({ content: systemPrompt ?? '' });
      const joined = copyMessage(first, {
        content: late.reduce((content, item) => joinContent(content, contentOf(item)), contentOf(first)),
      });
      if (front || (isNothing(systemMessage) && isNothing(systemPrompt))) return [joined];
      beside = joined;
      return [];
    },
  );
  const rebuilt = { ...request, messages: [...messages] };
  if (!beside) return rebuilt;
  // An agent refuses to have both of its forms changed.
  return systemMessage ? { ...rebuilt, systemMessage: beside } : { ...rebuilt, systemPrompt: contentOf(beside) };
}

function contentOf(message: object): unknown {
  return 'content' in message ? message.content : '';
}

/** Two texts are one, with a blank line between. */
function joinContent(left: unknown, right: unknown): unknown {
  if (isNothing(left)) return right;
  if (typeof left === 'string' && typeof right === 'string') return `${left}\n\n${right}`;
  return [...blocksOf(left), ...blocksOf(right)];
}

function blocksOf(content: unknown): LangchainBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).filter(isBlock);
}

function isBlock(block: unknown): block is LangchainBlock {
  return isRecord(block) && typeof block.type === 'string';
}
