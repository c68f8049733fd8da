import { collectViolations } from './collect-violations.ts';
import { checkCalls } from './google-genai/check-calls.ts';
import { readContents } from './google-genai/check-contents.ts';
import { checkSettings } from './google-genai/check-settings.ts';
import { checkSignatures } from './google-genai/check-signatures.ts';
import { checkTurns } from './google-genai/check-turns.ts';
import { readRequest } from './google-genai/read-request.ts';
import type { Fields, Report } from './report.ts';
import type { WireViolation } from './violation.ts';

/**
 * What is wrong with a request to `generateContent`, by the rules of the Gemini API and of Vertex AI: the parameters of the SDK, or the
 * body of a REST call. Empty where nothing is. Unknown fields are let through.
 *
 * @example
 * validateGemini({ model: 'gemini-3-pro', contents: [] }); // [{ rule: 'contents-empty', path: 'contents', message: '…' }]
 */
export function validateGemini(body: unknown): WireViolation[] {
  return collectViolations(body, checkBody);
}

function checkBody(body: Fields, report: Report): void {
  const { contents: value, model, settings } = readRequest(body);
  checkSettings(settings, report);
  const contents = readContents(value, report);
  checkTurns(contents, report);
  checkCalls(contents, report);
  checkSignatures(model, contents, report);
}
