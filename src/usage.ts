import type { Usage } from './adapters/adapter.ts';

/** Both usages together. A field that only one has is kept; a sum is of no single reply. */
export function addUsage(left: Usage | undefined, { responseId: _id, ...right }: Usage): Usage {
  if (!left) return right;
  const sum = { ...left };
  // Object.entries forgets that these are the fields of a usage.
  for (const [key, tokens] of Object.entries(right) as [keyof typeof right, number | undefined][])
    if (tokens !== undefined) sum[key] = (sum[key] ?? 0) + tokens;
  return sum;
}
