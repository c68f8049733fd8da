import { checkCallOptions } from './ai-sdk/check-call-options.ts';
import { checkMessage } from './ai-sdk/check-message.ts';
import { checkPairs } from './ai-sdk/check-pairs.ts';
import { describe, isRecord, type Report } from './report.ts';
import { findLoneSurrogates } from './strings.ts';
import type { WireViolation } from './violation.ts';

/**
 * What is wrong with the call options of a language model of the AI SDK (`LanguageModelV3CallOptions`), by the SDK's specification and by
 * what its providers pass on to servers that refuse it. Empty where nothing is. Unknown fields are let through.
 *
 * @example
 * validateAiSdk({ prompt: [] }).map(({ rule }) => rule); // ['prompt-empty']
 */
export function validateAiSdk(options: unknown): WireViolation[] {
  const violations: WireViolation[] = [];
  const report: Report = (rule, path, message) => violations.push({ rule, path, message });
  if (!isRecord(options) || !Array.isArray(options.prompt)) {
    const got = describe(isRecord(options) ? options.prompt : options);
    report('prompt', 'prompt', `Expected call options with an array of messages, got ${got}.`);
    return violations;
  }
  checkCallOptions(options, report);
  checkPrompt(options.prompt, report);
  return [...violations, ...findLoneSurrogates({ prompt: options.prompt, tools: options.tools })];
}

function checkPrompt(prompt: readonly unknown[], report: Report): void {
  if (prompt.length === 0) {
    report('prompt-empty', 'prompt', 'Expected at least one message.');
    return;
  }
  for (const [index, message] of prompt.entries()) checkMessage(message, `prompt[${index}]`, report);
  checkPairs(prompt, report);
  const messages = prompt.filter(isRecord);
  if (!messages.some(({ role }) => role === 'user'))
    report('no-user-message', 'prompt', 'Expected at least one message of the user.');
  const last = messages.findLast(({ role }) => role !== 'system');
  if (last?.role === 'assistant' && !isPaused(last.content))
    report('last-message', 'prompt', 'Expected the user or a tool to have the last word, got the assistant.');
}

/** A turn that is paused in the middle of the provider's own tools goes back as it is. */
function isPaused(content: unknown): boolean {
  return Array.isArray(content) && content.some((part) => isRecord(part) && part.providerExecuted === true);
}
