/** The same call with another body, and without these headers, named in lower case. All else is the caller's. */
export function withBody(init: RequestInit, body: object, dropped: readonly string[]): RequestInit {
  const { headers } = init;
  return { ...init, ...(headers && { headers: withoutHeaders(headers, dropped) }), body: JSON.stringify(body) };
}

/** True where the headers hold a signature of the body: with another one the provider refuses the call. */
export function isSigned({ headers }: RequestInit): boolean {
  const entries = headers ? entriesOf(headers) : [];
  return entries.some(([name, value]) => name.toLowerCase() === 'authorization' && /^aws4-/i.test(String(value)));
}

function withoutHeaders(headers: HeadersInit, names: readonly string[]): HeadersInit {
  const entries = entriesOf(headers);
  const kept = entries.filter(([name]) => !names.includes(name.toLowerCase()));
  if (kept.length === entries.length) return headers;
  // In the form in which they came: whoever gave `fetch` may look into them.
  if (Array.isArray(headers)) return kept;
  return typeof headers.forEach === 'function' ? new Headers(kept) : Object.fromEntries(kept);
}

function entriesOf(headers: HeadersInit): readonly [string, string][] {
  if (Array.isArray(headers)) return headers;
  if (typeof headers.forEach !== 'function') return Object.entries(headers);
  const entries: [string, string][] = [];
  headers.forEach((value, name) => {
    entries.push([name, value]);
  });
  return entries;
}
