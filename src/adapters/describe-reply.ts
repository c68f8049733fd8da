/** An odd reply by its outside, for an error: what is in it is nobody's business. */
export function describeReply(reply: unknown): string {
  if (typeof reply !== 'object' || reply === null) return typeof reply === 'string' ? 'a text' : String(reply);
  return `an object with the fields ${Object.keys(reply).slice(0, 5).join(', ') || '(none)'}`;
}
