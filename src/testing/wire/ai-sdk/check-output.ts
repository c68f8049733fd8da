import { describe, isRecord, type Report } from '../report.ts';

const contentTypes: ReadonlySet<unknown> = new Set([
  'text',
  'file-data',
  'file-url',
  'file-id',
  'image-data',
  'image-url',
  'image-file-id',
  'custom',
]);

/** What a tool returned. */
export function checkOutput(output: unknown, path: string, report: Report): void {
  const { type, value } = isRecord(output) ? output : {};
  if (type === 'text' || type === 'error-text') {
    if (typeof value !== 'string') report('output', path, `Expected a text, got ${describe(value)}.`);
    else if (type === 'error-text' && !/\S/.test(value)) report('error-empty', path, 'Expected an error to say something.');
  } else if (type === 'json' || type === 'error-json') {
    if (value === undefined) report('output', path, 'Expected a value.');
  } else if (type === 'content') {
    if (!Array.isArray(value) || !value.every((part) => isRecord(part) && contentTypes.has(part.type)))
      report('output', path, 'Expected an array of parts that a tool may return.');
  } else if (type !== 'execution-denied') report('output', path, `Expected an object of a known type, got ${describe(output)}.`);
}
