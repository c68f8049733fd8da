import type { Report } from '../report.ts';
import { isServerTool, type WireMessage, type WireTurn } from './turns.ts';

const mostMessages = 100_000;

/** Who speaks first, who speaks last, and where a system message may stand. */
export function checkOrder(messages: readonly WireMessage[], turns: readonly WireTurn[], report: Report): void {
  if (messages.length === 0) report('no-messages', 'messages', 'Expected at least one message.');
  if (messages.length > mostMessages) report('too-many-messages', 'messages', `Expected at most ${mostMessages} messages.`);
  const [first] = messages;
  if (first?.role === 'assistant' && !first.blocks.some(({ type }) => type === 'compaction'))
    report('first-message', first.path, 'Expected a user message, or an assistant message that holds a compaction block.');
  checkLastTurn(turns.at(-1), report);
  messages.forEach((message, index) => {
    if (message.role === 'system' && !isPlaced(messages[index - 1], messages[index + 1]))
      report('system-placement', message.path, 'Expected it after a user message, and last or before an assistant message.');
  });
}

/** An assistant turn stands last only where it is paused in the middle of the provider's own tools: a prefill is refused. */
function checkLastTurn(last: WireTurn | undefined, report: Report): void {
  if (last?.role !== 'assistant') return;
  if (!last.blocks.some(isServerTool)) report('last-message', last.path, 'Expected the request to end with a user message.');
  const block = last.blocks.at(-1);
  const text = block?.type === 'text' ? String(block.fields.text) : '';
  if (block && /\S/.test(text) && /\s/.test(text.slice(-1)))
    report('trailing-whitespace', block.path, 'Expected the final assistant text not to end in white space.');
}

function isPlaced(before: WireMessage | undefined, after: WireMessage | undefined): boolean {
  const last = before?.blocks.at(-1);
  const mayFollow = before?.role === 'user' || (before?.role === 'assistant' && last !== undefined && isServerTool(last));
  return mayFollow && (after === undefined || after.role === 'assistant');
}
