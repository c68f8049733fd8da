import type { Report } from './turns.ts';

/** No string of the body may hold half of a surrogate pair: the API refuses such JSON. */
export function checkStrings(body: object, report: Report): void {
  const seen = new Set<object>();
  const open: { value: unknown; path: string }[] = [{ value: body, path: '' }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, path } = next;
    if (typeof value === 'string' && !value.isWellFormed()) report('ill-formed-string', path, 'Expected no lone surrogates.');
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || seen.has(value)) continue;
    seen.add(value);
    for (const [key, entry] of Object.entries(value))
      open.push({ value: entry, path: Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}` });
  }
}
