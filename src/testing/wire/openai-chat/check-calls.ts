import { describe, type Fields, isRecord, type Report } from '../report.ts';

/** Code units of the id of a call. */
const longestId = 40;

/** Follows calls and results through the messages: each call is answered once, before any other message. */
export function checkPairs(messages: readonly unknown[], report: Report): void {
  let open = new Map<string, string>();
  let answered = new Set<string>();
  messages.forEach((message, index) => {
    const path = `messages[${index}]`;
    if (isRecord(message) && message.role === 'tool') {
      const id = message.tool_call_id;
      if (typeof id !== 'string' || id === '')
        report('tool-call-id', `${path}.tool_call_id`, `Expected the id of a call, got ${describe(id)}.`);
      else if (open.delete(id)) answered.add(id);
      else if (answered.has(id))
        report('duplicate-tool-message', path, `Expected one result for the call ${describe(id)}, got another.`);
      else report('orphan-tool-message', path, `Expected a call ${describe(id)} in the assistant message before.`);
      return;
    }
    reportUnanswered(open, report);
    if (isRecord(message) && message.role === 'function') checkFunctionResult(message, messages[index - 1], path, report);
    open = isRecord(message) && message.role === 'assistant' ? callsOf(message, path) : new Map();
    answered = new Set();
  });
  reportUnanswered(open, report);
}

/** The older form of a result: it answers the call of the message before. */
function checkFunctionResult({ name }: Fields, before: unknown, path: string, report: Report): void {
  const call = isRecord(before) && before.role === 'assistant' ? before.function_call : undefined;
  // A result without a name breaks a rule of its own.
  if (!isRecord(call) || (typeof name === 'string' && name !== '' && call.name !== name))
    report('orphan-function-message', path, `Expected a call of ${describe(name)} in the assistant message before.`);
}

function reportUnanswered(open: ReadonlyMap<string, string>, report: Report): void {
  for (const [id, path] of open)
    report('unanswered-call', path, `Expected a tool message for the call ${describe(id)} right after it.`);
}

function callsOf({ tool_calls }: Fields, path: string): Map<string, string> {
  const calls = new Map<string, string>();
  if (!Array.isArray(tool_calls)) return calls;
  tool_calls.forEach((call: unknown, index) => {
    if (isRecord(call) && typeof call.id === 'string' && call.id !== '') calls.set(call.id, `${path}.tool_calls[${index}]`);
  });
  return calls;
}

/** The calls of one message in themselves. */
export function checkCalls(message: Fields, path: string, report: Report): void {
  const { role, tool_calls, function_call } = message;
  if ('tool_calls' in message) {
    const at = `${path}.tool_calls`;
    if (role !== 'assistant')
      report('calls-not-allowed', at, `Expected calls in assistant messages only, got them in role ${describe(role)}.`);
    else if (!Array.isArray(tool_calls))
      report('tool-calls-type', at, `Expected an array of calls, got ${describe(tool_calls)}.`);
    else if (tool_calls.length === 0) report('tool-calls-empty', at, 'Expected at least one call, or no such field.');
    else checkCallList(tool_calls, at, report);
  }
  if (function_call !== undefined && function_call !== null)
    checkCallBody(function_call, 'arguments', `${path}.function_call`, report);
}

function checkCallList(calls: readonly unknown[], path: string, report: Report): void {
  const ids = new Set<unknown>();
  calls.forEach((call, index) => {
    const at = `${path}[${index}]`;
    if (!isRecord(call)) {
      report('tool-call-field', at, `Expected a call, got ${describe(call)}.`);
      return;
    }
    if (typeof call.id !== 'string' || call.id === '')
      report('tool-call-field', `${at}.id`, `Expected an id, got ${describe(call.id)}.`);
    else if (ids.has(call.id))
      report('duplicate-call-id', `${at}.id`, `Expected ids that differ, got ${describe(call.id)} twice.`);
    else if (call.id.length > longestId)
      report('call-id-long', `${at}.id`, `Expected at most ${longestId} characters, got ${call.id.length}.`);
    ids.add(call.id);
    if (call.type === 'function') checkCallBody(call.function, 'arguments', `${at}.function`, report);
    else if (call.type === 'custom') checkCallBody(call.custom, 'input', `${at}.custom`, report);
    else report('tool-call-field', `${at}.type`, `Expected function or custom, got ${describe(call.type)}.`);
  });
}

function checkCallBody(body: unknown, field: string, path: string, report: Report): void {
  const { name, [field]: text }: Fields = isRecord(body) ? body : {};
  if (typeof name !== 'string' || name === '')
    report('tool-call-field', `${path}.name`, `Expected a name, got ${describe(name)}.`);
  // The arguments are text: a model may have written broken JSON.
  if (typeof text !== 'string') report('tool-call-field', `${path}.${field}`, `Expected a string, got ${describe(text)}.`);
}
