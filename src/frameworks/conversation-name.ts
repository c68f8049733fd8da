import { isError } from '../any-realm.ts';
import { CompactionError } from '../errors.ts';
import { type CompactionObserver, notify } from '../events.ts';

/** Names the conversation that a call belongs to; undefined: it is found by its content. */
export type NameConversation<Request> = (request: Request) => string | undefined;

/**
 * The caller's own names. A host's fault must not lose the turn: it is told, and the conversation is found by its content.
 *
 * @throws CompactionError `invalid-options`
 */
export function nameSafely<Request>(
  conversation: NameConversation<Request> | undefined,
  onEvent: CompactionObserver | undefined,
): NameConversation<Request> {
  if (conversation !== undefined && typeof conversation !== 'function')
    throw new CompactionError('invalid-options', `Expected \`conversation\` to be a function, got ${typeof conversation}.`);
  return (request) => {
    try {
      return conversation?.(request);
    } catch (error) {
      const message = `The conversation was not named: ${isError(error) ? error.message : 'no error was given'}`;
      notify(onEvent, { type: 'notice', code: 'unreadable-request', message });
      return undefined;
    }
  };
}
