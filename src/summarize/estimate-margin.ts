/** Estimates may be too low by this part: a provider refuses a request that leaves no room for its output cap. */
export const estimateError = 0.1;

/** An estimate, and what it may be too low by. */
export function withMargin(tokens: number): number {
  return tokens + Math.ceil(tokens * estimateError);
}

/** What was kept free for a part of a request, and is free again without it: of its size no more than this is an estimate. */
export function freedMargin(tokens: number, estimatedTokens: number): number {
  return Math.floor(Math.min(tokens, estimatedTokens) * estimateError);
}
