import { isRecord, type Report } from '../report.ts';

/**
 * Each call of the caller's own tools is answered once, by the messages of tools right behind it. A result of a provider's own tool stands
 * behind its call, in the same message or a later one.
 */
export function checkPairs(prompt: readonly unknown[], report: Report): void {
  const served = new Set<unknown>();
  let open = new Map<unknown, string>();
  let answered = new Set<unknown>();
  const endTurn = (): void => {
    for (const [id, path] of open) report('call-unanswered', path, `Expected a result of ${String(id)} right behind it.`);
    open = new Map();
    answered = new Set();
  };
  for (const [index, message] of prompt.entries()) {
    if (!isRecord(message) || !Array.isArray(message.content)) continue;
    if (message.role !== 'tool') endTurn();
    for (const [place, part] of message.content.entries()) {
      if (!isRecord(part)) continue;
      const path = `prompt[${index}].content[${place}]`;
      if (message.role === 'tool') {
        if (part.type === 'tool-result') checkResult(part.toolCallId, path, open, answered, report);
      } else if (part.type === 'tool-call') {
        if (part.providerExecuted === true) served.add(part.toolCallId);
        else open.set(part.toolCallId, path);
      } else if (part.type === 'tool-result' && !served.has(part.toolCallId))
        report('server-result-orphan', path, `Expected a call ${String(part.toolCallId)} of the provider before it.`);
    }
  }
  endTurn();
}

function checkResult(id: unknown, path: string, open: Map<unknown, string>, answered: Set<unknown>, report: Report): void {
  if (answered.has(id)) report('result-twice', path, `Expected one result of ${String(id)}.`);
  else if (!open.delete(id)) report('result-orphan', path, `Expected a call ${String(id)} right before it.`);
  answered.add(id);
}
