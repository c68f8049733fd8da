import { compactionGuidance } from './guidance.ts';

// K18
/**
 * The instruction of a manual compaction: the shared guidance, and what the user asked to pay attention to.
 *
 * @example
 * buildCompactionPrompt('Keep the list of failing tests.');
 */
export function buildCompactionPrompt(guidance?: string): string {
  const base = `${compactionGuidance}\n\nReply with the structured summary alone, without a preamble.`;
  const focus = guidance?.trim();
  return focus ? `${base}\n\nIMPORTANT, from the user: ${focus}` : base;
}

// K19
/**
 * The instruction of an automatic compaction, in the middle of the agent's work.
 *
 * @example
 * buildAutoCompactionPrompt().includes('context compaction request'); // true
 */
export function buildAutoCompactionPrompt(): string {
  return `${compactionGuidance}

This is a checkpoint in the middle of the work. The newest message of the user will be kept word for word beside your summary: do not repeat it. Record how far the work on it has come: what was tried, what each meaningful tool result said, and what comes next, so that the work goes on without doing anything twice.

Reply with the summary alone.`;
}
