import { contextBudget } from '../../src/budget/context-budget.ts';
import type { CompactionEvent, Omitted } from '../../src/events.ts';
import type { CompactionPlan } from '../../src/plan.ts';
import { requestTokens } from './request-tokens.ts';
import {
  type Body,
  beginsWith,
  changedFields,
  countWrappers,
  holdsVerbatim,
  latestUserInput,
  leadingSystem,
} from './transcript-run-messages.ts';
import type { Provider } from './transcript-run-providers.ts';

/** What happened at one request of the caller. */
export interface RecordedStep<Request> {
  request: Request;
  /** What must be sent where nothing is compacted: what was sent last, the reply to it, and what is new. */
  expected: readonly object[];
  plan: CompactionPlan;
  events: readonly CompactionEvent[];
  turns: readonly Request[];
  summaries: readonly Request[];
}

/** How a compaction may fail here, where the provider always answers. */
const allowedFailures = ['not-smaller'] as const;
export type AllowedFailure = (typeof allowedFailures)[number];

/** Why a request may be over its budget. */
export type Excuse = 'what must stay' | 'hardly any room';

interface Setting<Shape, Item, ShapeOfReply, Request extends Shape & Body, Reply extends ShapeOfReply> {
  provider: Provider<Shape, Item, ShapeOfReply, Request, Reply>;
  contextWindow: number;
}

/** The end of a compaction at this step; undefined where none was tried. */
export function endOf({ events }: RecordedStep<unknown>): CompactionEvent | undefined {
  return events.find(({ type }) => type !== 'auto_compaction_started' && type !== 'notice');
}

/** Why the compaction of this step failed; undefined where it did not, or for a reason that is not allowed. */
export function failureOf(step: RecordedStep<unknown>): AllowedFailure | undefined {
  const end = endOf(step);
  return end?.type === 'auto_compaction_failed' ? allowedFailures.find((code) => code === end.error.code) : undefined;
}

/** One compaction where `plan` says so, and none elsewhere; each is told from start to end. */
export function checkEvents(step: RecordedStep<unknown>): string[] {
  const { plan, events } = step;
  const told = events.flatMap(({ type }) => (type === 'notice' ? [] : [type.replace('auto_compaction_', '')]));
  const end = endOf(step);
  return problems([
    [told.length === 0 || (told.length === 2 && told[0] === 'started'), `told ${told.join(', ')}`],
    [
      (plan.gate === undefined) === told.length > 0,
      `plan said ${plan.gate ?? 'compact'}, but told ${told.join(', ') || 'nothing'}`,
    ],
    [!plan.estimate.overThreshold || !plan.gate || gatesOverThreshold.has(plan.gate), `over the threshold, but ${plan.gate}`],
    [
      end?.type !== 'auto_compaction_applied' || end.prefix === 'kept' || omittedIn(step) !== undefined,
      'changed the prefix of the summary request',
    ],
    [end?.type !== 'auto_compaction_failed' || failureOf(step) !== undefined, `failed: ${JSON.stringify(end)}`],
    [end?.type !== 'auto_compaction_cancelled', 'was cancelled'],
  ]);
}

/** What the summary could not be asked about. */
export function omittedIn(step: RecordedStep<unknown>): Omitted | undefined {
  const end = endOf(step);
  return end?.type === 'auto_compaction_applied' ? end.omitted : undefined;
}

/** Gates that may keep a conversation over the threshold from being compacted; the replies here close every other. */
const gatesOverThreshold = new Set(['no-turn', 'suppressed', 'irreducible', 'nothing-to-compact']);

export function checkTurnRequest<Shape, Item, ShapeOfReply, Request extends Shape & Body, Reply extends ShapeOfReply>(
  step: RecordedStep<Request>,
  { provider }: Setting<Shape, Item, ShapeOfReply, Request, Reply>,
  applied: number,
): string[] {
  const { request, expected, turns } = step;
  const sent = turns[0] ?? request;
  const changed = changedFields(request, sent);
  const system = leadingSystem(request.messages);
  const { replacements, wrappers } = countWrappers(sent.messages);
  const compacted = endOf(step)?.type === 'auto_compaction_applied';
  return [
    ...provider.validate(sent).map(({ rule, path }) => `breaks ${rule} at ${path}`),
    ...problems([
      [turns.length === 1, `was sent ${turns.length} times`],
      [holdsVerbatim(sent.messages, latestUserInput(request.messages)), 'lost the latest user message'],
      [changed.length === 0, `changed ${changed.join(', ')}`],
      [beginsWith(sent.messages, system), 'changed a system message'],
      [
        replacements === Math.min(applied, 1) && wrappers === replacements,
        `has ${wrappers} wrappers after ${applied} compactions`,
      ],
      [applied > 0 || sent === request, 'is a copy, though nothing was compacted'],
      compacted
        ? [sent.messages.length === system.length + 1, 'holds more than system and replacement right after a compaction']
        : [isSame(sent.messages, expected), 'is not what was sent last and what is new'],
    ]),
  ];
}

/** Parameters that a summary request sets for itself. */
const setForSummary = new Set(['max_tokens', 'max_completion_tokens', 'tool_choice']);

export function checkSummaryRequest<Shape, Item, ShapeOfReply, Request extends Shape & Body, Reply extends ShapeOfReply>(
  summary: Request,
  step: RecordedStep<Request>,
  { provider, contextWindow }: Setting<Shape, Item, ShapeOfReply, Request, Reply>,
): string[] {
  const { request, expected } = step;
  const changed = changedFields(request, summary).filter((key) => !setForSummary.has(key));
  const size = requestTokens(summary) + provider.outputCap(summary);
  return [
    ...provider.validate(summary).map(({ rule, path }) => `summary request breaks ${rule} at ${path}`),
    ...problems([
      [
        isSame(summary.messages.slice(0, -1), expected) !== (omittedIn(step) !== undefined),
        'summary request is not the request and one message, or what fits of it',
      ],
      [changed.length === 0, `summary request changed ${changed.join(', ')}`],
      [size <= contextWindow, `summary request has ${size} tokens with its cap, the window ${contextWindow}`],
    ]),
  ];
}

/** Undefined where the request that was sent is inside its budget. */
export function findExcuse<Shape, Item, ShapeOfReply, Request extends Shape & Body, Reply extends ShapeOfReply>(
  step: RecordedStep<Request>,
  { provider, contextWindow }: Setting<Shape, Item, ShapeOfReply, Request, Reply>,
): Excuse | { problem: string } | undefined {
  const { request, plan, turns } = step;
  const tokens = requestTokens(turns[0] ?? request);
  const { inputBudget, threshold } = contextBudget({ contextWindow, outputCap: provider.adapter.context(request).outputCap });
  if (tokens <= inputBudget) return undefined;
  const kept = [...leadingSystem(request.messages), { role: 'user', content: latestUserInput(request.messages) }];
  const least = requestTokens({ ...request, messages: kept }) + Math.min(8192, Math.floor(inputBudget / 5));
  if (least > inputBudget) return 'what must stay';
  // Three compactions for one input have gained next to nothing: there is no fourth.
  if (plan.gate === 'irreducible' && threshold - least < inputBudget * 0.05) return 'hardly any room';
  return { problem: `has ${tokens} of ${inputBudget} tokens, ${least} must stay, gate ${plan.gate}` };
}

/** The very same objects; a replacement, which is handed out as a copy each time, with the very same bytes. */
function isSame(list: readonly unknown[], other: readonly unknown[]): boolean {
  const sameBytes = (item: unknown, index: number): boolean => {
    const text = JSON.stringify(item);
    return text.includes('<compacted_context') && text === JSON.stringify(other[index]);
  };
  return list.length === other.length && list.every((item, index) => item === other[index] || sameBytes(item, index));
}

/** The texts of the checks that do not hold. */
function problems(checks: readonly [holds: boolean, text: string][]): string[] {
  return checks.filter(([holds]) => !holds).map(([, text]) => text);
}
