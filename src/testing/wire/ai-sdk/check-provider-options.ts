import { describe, isRecord, type Report } from '../report.ts';

/** A record for each provider. */
export function checkProviderOptions(options: unknown, path: string, report: Report): void {
  if (options === undefined) return;
  if (!isRecord(options) || !Object.values(options).every(isRecord))
    report('provider-options', path, `Expected an object of objects, got ${describe(options)}.`);
}
