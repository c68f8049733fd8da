import type { Omitted } from '../events.ts';

/** What was left out of either of two requests. */
export function addOmitted(left: Omitted | undefined, right: Omitted | undefined): Omitted | undefined {
  if (!left || !right) return left ?? right;
  return { items: left.items + right.items, tokens: left.tokens + right.tokens };
}
