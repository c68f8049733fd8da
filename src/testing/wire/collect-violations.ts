import { describe, type Fields, isRecord, type Report } from './report.ts';
import { findLoneSurrogates } from './strings.ts';
import type { WireViolation } from './violation.ts';

/**
 * The rules that a body breaks, for shapes that need no more of it than that it is an object. `textsOf`: where texts are looked at;
 * default: in all of it.
 */
export function collectViolations(
  body: unknown,
  check: (body: Fields, report: Report) => void,
  textsOf: (body: Fields) => object = (whole) => whole,
): WireViolation[] {
  const violations: WireViolation[] = [];
  const report: Report = (rule, path, message) => violations.push({ rule, path, message });
  if (!isRecord(body)) {
    report('body', '', `Expected an object, got ${describe(body)}.`);
    return violations;
  }
  check(body, report);
  return [...violations, ...findLoneSurrogates(textsOf(body))];
}
