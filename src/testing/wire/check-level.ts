import { describe, isAbsent, type Report } from './report.ts';

/** One of the levels that a parameter has, or none. */
export function checkLevel(level: unknown, levels: readonly string[], path: string, report: Report): void {
  if (!isAbsent(level) && !levels.some((known) => known === level))
    report('unknown-level', path, `Expected one of ${levels.join(', ')}, got ${describe(level)}.`);
}

export const verbosities: readonly string[] = ['low', 'medium', 'high'];
