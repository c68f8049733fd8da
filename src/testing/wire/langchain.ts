import { collectViolations } from './collect-violations.ts';
import { checkCalls } from './langchain/check-calls.ts';
import { checkMessage } from './langchain/check-message.ts';
import { checkSettings } from './langchain/check-settings.ts';
import { kindOf } from './langchain/message-kind.ts';
import { checkSpeakers, readMessages, type Speaker } from './messages.ts';
import type { Fields, Report } from './report.ts';
import type { WireViolation } from './violation.ts';

/**
 * What is wrong with a request to a LangChain model: what one of the packages for OpenAI, Anthropic, Google and Bedrock throws on, or what
 * their providers refuse of what these make of it. Empty where nothing is. Unknown fields are let through.
 *
 * @example
 * validateLangchain({ messages: [new HumanMessage('')] }).map(({ rule }) => rule); // ['blank-content']
 */
export function validateLangchain(request: unknown): WireViolation[] {
  return collectViolations(request, checkBody, ({ messages, systemMessage }) => ({ messages, systemMessage }));
}

function checkBody(request: Fields, report: Report): void {
  checkSettings(request, report);
  const messages = readMessages(request, report);
  if (!messages) return;
  for (const [index, message] of messages.entries()) checkMessage(message, `messages[${index}]`, report);
  checkSpeakers(messages.map(speakerOf), report);
  checkCalls(messages, report);
}

function speakerOf(message: unknown): Speaker {
  const kind = kindOf(message);
  return kind === 'ai' ? 'assistant' : kind === 'human' ? 'user' : kind;
}
