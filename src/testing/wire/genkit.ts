import { collectViolations } from './collect-violations.ts';
import { checkCalls } from './genkit/check-calls.ts';
import { checkMessage } from './genkit/check-message.ts';
import { checkRequest } from './genkit/check-request.ts';
import { checkSpeakers, readMessages, type Speaker } from './messages.ts';
import { type Fields, isRecord, type Report } from './report.ts';
import type { WireViolation } from './violation.ts';

/**
 * What is wrong with a request to a Genkit model: by Genkit's own schema, and by what its plugins for OpenAI, Anthropic and Google throw
 * on or lose. Empty where nothing is. Unknown fields are let through.
 *
 * @example
 * validateGenkit({ messages: [{ role: 'user', content: [{ text: '' }] }] }).map(({ rule }) => rule); // ['blank-text']
 */
export function validateGenkit(request: unknown): WireViolation[] {
  return collectViolations(request, checkBody);
}

function checkBody(request: Fields, report: Report): void {
  checkRequest(request, report);
  const messages = readMessages(request, report);
  if (!messages) return;
  for (const [index, message] of messages.entries()) checkMessage(message, `messages[${index}]`, report);
  checkSpeakers(messages.map(speakerOf), report);
  checkCalls(messages, report);
}

const speakers: ReadonlyMap<unknown, Speaker> = new Map([
  ['system', 'system'],
  ['user', 'user'],
  ['model', 'assistant'],
  ['tool', 'tool'],
]);

function speakerOf(message: unknown): Speaker {
  return isRecord(message) ? speakers.get(message.role) : undefined;
}
