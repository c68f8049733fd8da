import { checkBlocks } from './anthropic/blocks.ts';
import { checkCompaction } from './anthropic/compaction.ts';
import { checkOrder } from './anthropic/order.ts';
import { checkRequest } from './anthropic/request.ts';
import { checkServerTools } from './anthropic/server-tools.ts';
import { checkThinking } from './anthropic/thinking.ts';
import { checkTools } from './anthropic/tools.ts';
import { mergeTurns, readMessages } from './anthropic/turns.ts';
import { isRecord, type Report } from './report.ts';
import { findLoneSurrogates } from './strings.ts';
import type { WireViolation } from './violation.ts';

/**
 * Every published rule of the Messages API that a request body breaks; empty for a body that the API takes. Turns of the same role
 * are merged first, as the API does.
 *
 * @example
 * validateAnthropic({ model: 'claude', max_tokens: 100, messages: [] }).map(({ rule }) => rule); // ['no-messages']
 */
export function validateAnthropic(body: unknown): WireViolation[] {
  const violations: WireViolation[] = [];
  const report: Report = (rule, path, message) => violations.push({ rule, path, message });
  if (!isRecord(body) || !Array.isArray(body.messages)) {
    report('invalid-body', 'messages', 'Expected an object with an array of messages.');
    return violations;
  }
  const messages = readMessages(body.messages, report);
  const turns = mergeTurns(messages);
  checkRequest(body, turns, report);
  checkOrder(messages, turns, report);
  checkCompaction(body, messages, report);
  checkBlocks(messages, report);
  checkTools(turns, report);
  checkServerTools(turns, report);
  checkThinking(body.thinking, turns, report);
  return [...findLoneSurrogates(body), ...violations];
}
