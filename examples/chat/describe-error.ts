/** What went wrong, in words for the user. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
