import type { Report } from '../report.ts';
import type { WireMessage } from './messages.ts';
import { isServerCall } from './tools.ts';

/** Who speaks first, that the roles alternate, who speaks last, and where a system message may stand. */
export function checkOrder(messages: readonly WireMessage[], report: Report): void {
  const turns = messages.filter(({ role }) => role !== 'system');
  const [first] = turns;
  if (first && first.role !== 'user')
    report('first-message', first.path, 'Expected a conversation to start with a user message.');
  const last = turns.at(-1);
  if (last?.role === 'assistant') report('last-message', last.path, 'Expected a conversation to end with a user message.');
  turns.forEach(({ role, path }, index) => {
    if (role === turns[index - 1]?.role)
      report('alternation', path, `Expected user and assistant to alternate, found two turns of the ${role}.`);
  });
  messages.forEach((message, index) => {
    if (message.role === 'system' && !isPlaced(messages[index - 1], messages[index + 1]))
      report('system-placement', message.path, 'Expected it after a user message, and last or before an assistant message.');
  });
}

function isPlaced(before: WireMessage | undefined, after: WireMessage | undefined): boolean {
  const last = before?.blocks.at(-1);
  const mayFollow =
    before?.role === 'user' || (before?.role === 'assistant' && last && (isServerCall(last) || last.kind === 'toolResult'));
  return Boolean(mayFollow) && (after === undefined || after.role === 'assistant');
}
