import { describe, type Fields, isRecord, type Report } from '../report.ts';
import { kindOf } from './message-kind.ts';

/** Follows calls and results through the messages: each call is answered once, right after it, and no id is used again. */
export function checkCalls(messages: readonly unknown[], report: Report): void {
  const used = new Set<string>();
  let open = new Map<string, string>();
  let answered = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    if (isRecord(message) && kindOf(message) === 'tool') {
      const { tool_call_id: id } = message;
      if (open.delete(String(id))) answered.add(id);
      else if (answered.has(id)) report('duplicate-tool-message', path, `Expected one result for the call ${describe(id)}.`);
      else report('orphan-tool-message', path, `Expected a call ${describe(id)} in the message of the model before.`);
      continue;
    }
    reportUnanswered(open, report);
    open = isRecord(message) && kindOf(message) === 'ai' ? callsOf(message, path, used, report) : new Map();
    answered = new Set();
  }
  reportUnanswered(open, report);
}

function reportUnanswered(open: ReadonlyMap<string, string>, report: Report): void {
  for (const [id, path] of open)
    report('unanswered-call', path, `Expected a tool message for the call ${describe(id)} right after it.`);
}

function callsOf(message: Fields, path: string, used: Set<string>, report: Report): Map<string, string> {
  const calls = new Map<string, string>();
  sentCalls(message).forEach((call, index) => {
    const at = `${path}.tool_calls[${index}]`;
    const { id, name, args, function: body }: Fields = isRecord(call) ? call : {};
    const sentName = isRecord(body) ? body.name : name;
    if (typeof sentName !== 'string' || sentName === '')
      report('call-field', `${at}.name`, `Expected a name, got ${describe(sentName)}.`);
    if (!isRecord(body) && !isRecord(args)) report('call-field', `${at}.args`, `Expected an object, got ${describe(args)}.`);
    if (typeof id !== 'string' || id === '') {
      report('call-field', `${at}.id`, `Expected an id, got ${describe(id)}.`);
      return;
    }
    if (used.has(id)) report('duplicate-call-id', `${at}.id`, `Expected ids that differ, got ${describe(id)} twice.`);
    used.add(id);
    calls.set(id, at);
  });
  return calls;
}

/** The package for OpenAI sends the raw calls where there are no others, that for Anthropic those in the content. */
function sentCalls({ tool_calls, additional_kwargs: extra, content }: Fields): unknown[] {
  const readable: unknown[] = Array.isArray(tool_calls) ? tool_calls : [];
  const raw: unknown[] = isRecord(extra) && Array.isArray(extra.tool_calls) ? extra.tool_calls : [];
  const calls = readable.length > 0 ? readable : raw;
  const ids = new Set(calls.map((call) => (isRecord(call) ? call.id : undefined)));
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  const others = blocks.filter(isRecord).filter(({ type, id }) => (type === 'tool_use' || type === 'tool_call') && !ids.has(id));
  return [...calls, ...others.map(({ id, name, input, args }) => ({ id, name, args: input ?? args }))];
}
