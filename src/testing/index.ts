/**
 * Says whether a provider would accept a request, without asking it.
 *
 * @packageDocumentation
 */
export { validateAnthropic } from './wire/anthropic.ts';
export { validateOpenAiChat } from './wire/openai-chat.ts';
export { validateOpenAiResponses } from './wire/openai-responses.ts';
export type { WireViolation } from './wire/violation.ts';
