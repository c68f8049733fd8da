import type { Conversation } from './conversation.ts';
import type { Entry } from './fit-sections.ts';
import { clip, toOneLine } from './line-text.ts';

const longestItem = 160;
const mostItems = 40;
const ownForm = /^(?:To do|Under way): /;

/** True for a line of earlier Accomplished that tells what was left of a plan. */
export function isPlanItem(line: string): boolean {
  return ownForm.test(line);
}

/** What is left of the newest plan: the last tool call whose input is a list of steps with a status. It voids the one before. */
export function listPlanItems({ earlier, uses }: Conversation): Entry[] {
  const planned = uses.findLast((use) => use.plan !== undefined);
  const lines = planned?.plan ? planned.plan.flatMap(lineOf).slice(0, mostItems) : earlier.Accomplished.filter(isPlanItem);
  return lines.map((text) => ({ at: planned?.at ?? -1, text, rank: text.startsWith('Under way') ? 8 : 7 }));
}

/** One step of a plan. */
export interface PlanStep {
  step: string;
  status: string;
}

/** The steps in the input of a call, whatever its keys are called; undefined where it holds no plan. */
export function planOf(input: unknown): PlanStep[] | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  for (const list of Object.values(input)) {
    if (!Array.isArray(list) || list.length === 0) continue;
    const steps = list.slice(0, 500).map(stepOf);
    if (steps.every((step) => step !== undefined)) return steps;
  }
  return undefined;
}

function stepOf(item: unknown): PlanStep | undefined {
  if (typeof item !== 'object' || item === null || !('status' in item) || typeof item.status !== 'string') return undefined;
  // A record by the check above; its other keys are read one by one.
  const fields = item as Record<string, unknown>;
  const step = ['content', 'step', 'title', 'task', 'description', 'text', 'subject']
    .map((key) => fields[key])
    .find((text) => typeof text === 'string');
  return typeof step === 'string' ? { step, status: item.status } : undefined;
}

function lineOf({ step, status }: PlanStep): string[] {
  if (/^(?:done|completed?|cancell?ed|skipped)$/i.test(status)) return [];
  return [
    `${/progress|active|doing|running/i.test(status) ? 'Under way' : 'To do'}: ${clip(toOneLine(step.slice(0, 1_000)), longestItem)}`,
  ];
}
