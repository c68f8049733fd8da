import { openaiEfforts } from '../../adapters/openai-efforts.ts';
import { checkLevel, verbosities } from './check-level.ts';
import { collectViolations } from './collect-violations.ts';
import { checkInput } from './openai-responses/check-input.ts';
import { checkTools } from './openai-responses/check-tools.ts';
import { describe, type Fields, isAbsent, isRecord, type Report } from './report.ts';
import type { WireViolation } from './violation.ts';

/** The provider refuses a smaller output cap. */
const smallestCap = 16;

/**
 * What is wrong with the body of a Responses request, by the rules of OpenAI and of the stricter servers that speak like it. Empty where
 * nothing is. The body is what JSON made of a request; unknown fields and items are let through.
 *
 * @example
 * validateOpenAiResponses({ model: 'gpt-5', input: [] }); // [{ rule: 'input-empty', path: 'input', message: '…' }]
 */
export function validateOpenAiResponses(body: unknown): WireViolation[] {
  return collectViolations(body, checkBody);
}

function checkBody(body: Fields, report: Report): void {
  if ((typeof body.model !== 'string' || body.model === '') && isAbsent(body.prompt))
    report('model', 'model', `Expected a model, got ${describe(body.model)}.`);
  if (!isAbsent(body.instructions) && typeof body.instructions !== 'string')
    report('instructions-type', 'instructions', `Expected a text, got ${describe(body.instructions)}.`);
  const cap = body.max_output_tokens;
  if (!isAbsent(cap) && !(Number.isInteger(cap) && Number(cap) >= smallestCap))
    report('output-cap', 'max_output_tokens', `Expected a whole number of at least ${smallestCap}, got ${describe(cap)}.`);
  if (!isAbsent(body.conversation) && !isAbsent(body.previous_response_id))
    report('two-histories', 'conversation', 'Expected a conversation or a previous response, got both.');
  if (body.background === true && body.store === false)
    report('background-unstored', 'background', 'Expected a response in the background to be stored.');
  if (isRecord(body.reasoning)) checkLevel(body.reasoning.effort, openaiEfforts, 'reasoning.effort', report);
  if (isRecord(body.text)) checkLevel(body.text.verbosity, verbosities, 'text.verbosity', report);
  checkTools(body, report);
  checkInput(body, report);
}
