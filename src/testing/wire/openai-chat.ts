import { openaiEfforts } from '../../adapters/openai-efforts.ts';
import { checkLevel, verbosities } from './check-level.ts';
import { collectViolations } from './collect-violations.ts';
import { readMessages } from './messages.ts';
import { checkCalls, checkPairs } from './openai-chat/check-calls.ts';
import { checkContent } from './openai-chat/check-content.ts';
import { checkTools } from './openai-chat/check-tools.ts';
import { describe, type Fields, isRecord, type Report } from './report.ts';
import type { WireViolation } from './violation.ts';

const roles = new Set<unknown>(['system', 'developer', 'user', 'assistant', 'tool', 'function']);

/**
 * What is wrong with the body of a Chat Completions request, by the rules of OpenAI and of the stricter servers that speak like it.
 * Empty where nothing is. The body is what JSON made of a request; unknown fields are let through.
 *
 * @example
 * validateOpenAiChat({ model: 'gpt-5', messages: [] }); // [{ rule: 'messages-empty', path: 'messages', message: '…' }]
 */
export function validateOpenAiChat(body: unknown): WireViolation[] {
  return collectViolations(body, checkBody);
}

function checkBody(body: Fields, report: Report): void {
  if (typeof body.model !== 'string' || body.model === '')
    report('model', 'model', `Expected a model, got ${describe(body.model)}.`);
  for (const field of ['max_completion_tokens', 'max_tokens']) {
    const cap = body[field];
    if (cap !== undefined && cap !== null && !(Number.isInteger(cap) && Number(cap) > 0))
      report('output-cap', field, `Expected a whole number above 0, got ${describe(cap)}.`);
  }
  checkLevel(body.reasoning_effort, openaiEfforts, 'reasoning_effort', report);
  checkLevel(body.verbosity, verbosities, 'verbosity', report);
  checkTools(body, report);
  const messages = readMessages(body, report);
  if (messages) checkMessages(messages, report);
}

function checkMessages(messages: readonly unknown[], report: Report): void {
  for (const [index, message] of messages.entries()) checkMessage(message, `messages[${index}]`, report);
  checkPairs(messages, report);
  const known = messages.filter(isRecord).map(({ role }) => role);
  if (!known.includes('user')) report('no-user-message', 'messages', 'Expected at least one message of the user.');
  // Instructions may stand anywhere. Under them, the model answers the user or a tool; an assistant's turn is not continued.
  const last = known.findLast((role) => role !== 'system' && role !== 'developer');
  if (last === 'assistant')
    report('last-message', 'messages', 'Expected the user or a tool to have the last word, got the assistant.');
}

function checkMessage(message: unknown, path: string, report: Report): void {
  if (!isRecord(message)) report('message-type', path, `Expected a message, got ${describe(message)}.`);
  else if (!roles.has(message.role))
    report('unknown-role', `${path}.role`, `Expected a known role, got ${describe(message.role)}.`);
  else {
    checkContent(message, path, report);
    checkCalls(message, path, report);
    if (message.role === 'function' && (typeof message.name !== 'string' || message.name === ''))
      report('function-name', `${path}.name`, `Expected the name of a function, got ${describe(message.name)}.`);
  }
}
