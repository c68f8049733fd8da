import { compactionGuidance } from './guidance.ts';

// K18
/**
 * The instruction of a manual compaction: the shared guidance, and what the user asked to pay attention to.
 *
 * @example
 * buildCompactionPrompt('Keep the list of failing tests.');
 */
export function buildCompactionPrompt(guidance?: string): string {
  return addFocus(`${compactionGuidance}\n\nReply with the structured summary alone, without a preamble.`, guidance);
}

/** An instruction with what the user asked to pay attention to, where that is not blank. */
export function addFocus(instruction: string, guidance: string | undefined): string {
  const focus = guidance?.trim();
  return focus ? `${instruction}\n\nIMPORTANT, from the user: ${focus}` : instruction;
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

/** The same once more, for a summary that lacked some of these. */
export function requireHeadings(instruction: string, headings: readonly string[]): string {
  const list = headings.map((heading) => `## ${heading.replace(/^\s*#{1,6}\s*/, '')}`).join('\n');
  return `${instruction}\n\nThe summary must have each of these headings, on a line of its own:\n${list}`;
}

/** The same where turns may stay beside the summary: they are not told twice. How many there is room for is known only with the summary. */
export function spareNewestTurns(instruction: string): string {
  return `${instruction}\n\nThe newest turns will stay word for word behind your summary, as far as there is room for them: do not retell them, only say where they leave the work.`;
}
