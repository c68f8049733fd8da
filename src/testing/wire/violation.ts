/** One rule of a provider that a request body breaks. */
export interface WireViolation {
  /** The rule in kebab-case, for instance `orphan-tool-message`. */
  rule: string;
  /** Where it is broken, for instance `messages[3].tool_calls[0].id`. */
  path: string;
  /** What was found, and what was expected. */
  message: string;
}
