import type { WireViolation } from './violation.ts';

/** Half a surrogate pair cannot be encoded: servers refuse the body. Keys and values of the whole body are looked at. */
export function findLoneSurrogates(body: unknown): WireViolation[] {
  const violations: WireViolation[] = [];
  const seen = new Set<unknown>();
  const queue: [path: string, value: unknown][] = [['', body]];
  for (let next = queue.pop(); next; next = queue.pop()) {
    const [path, value] = next;
    if (typeof value === 'string' && !value.isWellFormed())
      violations.push({ rule: 'ill-formed-string', path, message: 'Expected well-formed text, got half a surrogate pair.' });
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || seen.has(value)) continue;
    seen.add(value);
    for (const [key, entry] of Object.entries(value)) {
      const name = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
      queue.push([name, entry]);
      if (!key.isWellFormed()) queue.push([`the key ${JSON.stringify(name)}`, key]);
    }
  }
  return violations.reverse();
}
