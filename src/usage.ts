import type { Usage } from './adapters/adapter.ts';

/** Both usages together. A field that only one has is kept. */
export function addUsage(left: Usage | undefined, right: Usage): Usage {
  if (!left) return { ...right };
  const sum: Usage = { ...left };
  // Object.entries forgets that these are the fields of a usage.
  for (const [key, tokens] of Object.entries(right) as [keyof Usage, number | undefined][])
    if (tokens !== undefined) sum[key] = (sum[key] ?? 0) + tokens;
  return sum;
}
