import { describe, isRecord, type Report } from '../report.ts';

/** A call or a response: by reference, or by name where there is none. */
interface Half {
  key: string;
  path: string;
}

/** Follows calls and responses through the messages: each call is answered once, by the tool messages right after it. */
export function checkCalls(messages: readonly unknown[], report: Report): void {
  let open: Half[] = [];
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    const isTool = isRecord(message) && message.role === 'tool';
    for (const { key, path: at } of halvesOf(message, path, 'toolResponse')) {
      const answered = open.findIndex((call) => call.key === key);
      if (answered === -1) report('orphan-response', at, `Expected a call of ${key} in the message of the model before.`);
      else open.splice(answered, 1);
    }
    if (isTool) continue;
    reportUnanswered(open, report);
    open = halvesOf(message, path, 'toolRequest');
    checkReferences(open, report);
  }
  reportUnanswered(open, report);
}

function reportUnanswered(open: readonly Half[], report: Report): void {
  for (const { key, path } of open) report('unanswered-call', path, `Expected a response to the call of ${key} right after it.`);
}

/** Without references several calls of one tool are told apart by their order. */
function checkReferences(calls: readonly Half[], report: Report): void {
  const seen = new Set<string>();
  for (const { key, path } of calls) {
    if (key.startsWith('#') && seen.has(key)) report('duplicate-ref', path, `Expected references that differ, got ${key} twice.`);
    seen.add(key);
  }
}

function halvesOf(message: unknown, path: string, kind: 'toolRequest' | 'toolResponse'): Half[] {
  if (!isRecord(message) || !Array.isArray(message.content)) return [];
  return message.content.flatMap((part: unknown, index): Half[] => {
    const half = isRecord(part) ? part[kind] : undefined;
    if (!isRecord(half)) return [];
    const { ref, name } = half;
    const key = typeof ref === 'string' && ref !== '' ? `#${ref}` : describe(name);
    return [{ key, path: `${path}.content[${index}]` }];
  });
}
