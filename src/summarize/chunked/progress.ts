import type { Omitted } from '../../events.ts';
import { BoundedMap } from '../../history/bounded-map.ts';
import { fingerprint, linkFingerprints } from '../../history/fingerprint.ts';
import type { Step } from './take-piece.ts';

/** How far a conversation is summarized. */
export interface Progress {
  /** Steps that the summary stands for. */
  steps: number;
  /** Absent before the first piece. */
  summary?: string | undefined;
  changed: readonly string[];
  omitted?: Omitted | undefined;
}

/** Remembers what was reached when an attempt failed, so that the next one goes on from there. */
export interface ProgressMemory {
  recall: (marks: readonly string[]) => Progress | undefined;
  remember: (marks: readonly string[], progress: Progress) => void;
  forget: (marks: readonly string[]) => void;
}

const rememberedConversations = 32;

export function createProgressMemory(): ProgressMemory {
  const known = new BoundedMap<string, Progress>(rememberedConversations);
  return {
    recall(marks) {
      for (const mark of marks.toReversed()) {
        const progress = known.get(mark);
        if (progress) return progress;
      }
      return undefined;
    },
    remember(marks, progress) {
      for (const mark of marks.slice(0, progress.steps)) known.delete(mark);
      const mark = marks[progress.steps];
      if (mark !== undefined) known.set(mark, progress);
    },
    forget(marks) {
      for (const mark of marks) known.delete(mark);
    },
  };
}

/** A mark for each prefix of the steps, and for what is asked about them: entry n stands for the first n. */
export function markSteps(question: unknown, steps: readonly Step<unknown>[]): string[] {
  let mark = fingerprint(question);
  const marks = [mark];
  for (const { items } of steps) {
    mark = linkFingerprints(mark, fingerprint(items.map(({ messages }) => messages)));
    marks.push(mark);
  }
  return marks;
}
