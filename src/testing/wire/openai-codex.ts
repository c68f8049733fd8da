import { validateOpenAiResponses } from './openai-responses.ts';
import { describe, type Fields, isAbsent, isRecord, type Report } from './report.ts';
import type { WireViolation } from './violation.ts';

/** Parameters of the Responses API that the backend does not know. */
const unsupported = ['max_output_tokens', 'previous_response_id', 'conversation'];

/**
 * What is wrong with the body of a request to the backend of Codex: the rules of the Responses API, and its own. Empty where nothing is.
 *
 * @example
 * validateOpenAiCodex({ model: 'gpt-5', instructions: '', input: [], store: false, stream: true }); // [{ rule: 'input-empty', … }]
 */
export function validateOpenAiCodex(body: unknown): WireViolation[] {
  if (!isRecord(body)) return validateOpenAiResponses(body);
  // Nothing is stored, whatever the request says.
  const violations = validateOpenAiResponses({ ...body, store: false });
  const report: Report = (rule, path, message) => violations.push({ rule, path, message });
  if (isAbsent(body.instructions)) report('instructions-missing', 'instructions', 'Expected instructions.');
  if (body.stream !== true) report('stream', 'stream', `Expected true, got ${describe(body.stream)}.`);
  if (body.store !== false) report('store', 'store', `Expected false, got ${describe(body.store)}.`);
  for (const field of unsupported)
    if (!isAbsent(body[field])) report('unsupported-parameter', field, 'Expected no such parameter.');
  const items: readonly unknown[] = Array.isArray(body.input) ? body.input : [];
  items.forEach((item, index) => {
    if (isRecord(item)) checkRole(item, `input[${index}]`, report);
  });
  return violations;
}

/** System text has one place. */
function checkRole({ role }: Fields, path: string, report: Report): void {
  if (role === 'system' || role === 'developer')
    report('system-item', path, `Expected system text in \`instructions\`, got a message of role ${describe(role)}.`);
}
