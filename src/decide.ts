import type { Measurement } from './budget/meter.ts';
import { isCompactionError } from './errors.ts';
import { fingerprint } from './history/fingerprint.ts';
import { messagesOf, type Reading } from './history/reading.ts';
import { countReminders, divide, type RecognizeReplacement, recognizeBy } from './history/replaced.ts';
import { hasCompletedTurn, openCalls } from './history/turns.ts';
import { fingerprintSurroundings, type RequestView } from './history/view.ts';
import type { Inspection } from './inspection.ts';
import type { Track } from './overlay.ts';
import { mostAfter } from './saving.ts';
import type { Settings } from './settings.ts';
import { wantedCap } from './summary-sizes.ts';
import { isSuppressed, type Standing } from './suppression.ts';
import {
  closedGate,
  closedSizeGate,
  type Gate,
  type GateFacts,
  isCramped,
  mostTries,
  type TouchFacts,
  untouchableGate,
} from './trigger.ts';

export interface Decision {
  /** The first gate that is closed; absent where compaction should happen. */
  gate?: Gate | undefined;
  /** The user said something since the last attempt. Looked at only where the size is over the threshold. */
  newUserInput: boolean;
  /** Absent where a gate closed before the size mattered, or the size was plainly below the threshold. */
  measurement?: Measurement | undefined;
}

/** Looks at the gates in their order: the cheap ones, then the size, then whether anything could be gained. */
export async function decide<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  inspection: Inspection<Request, Item>,
  oneShot: boolean,
): Promise<Decision> {
  const { view, budget, anchor } = inspection;
  const { meter } = settings;
  const facts = readFacts(settings, track, inspection, oneShot);
  const closed = closedGate(facts, track.trigger);
  const fresh = closed === 'no-turn' && settings.when === 'every-request' && hasNews(settings, track, inspection);
  if (closed && !fresh) return { gate: closed, newUserInput: false };
  const due = settings.soft === 'act' && endsWithInput(settings, inspection.raw) ? budget.softThreshold : budget.threshold;
  const threshold = fresh ? budget.inputBudget + 1 : due;
  if (meter.upperBound(view, anchor) < threshold) return { gate: closed ?? 'below-threshold', newUserInput: false };

  await meter.load();
  const measurement = meter.measure(view, anchor);
  if (measurement.tokens < threshold) return { gate: closed ?? 'below-threshold', newUserInput: false, measurement };
  const newUserInput = hasNewInput(settings, track, inspection.raw);
  const gate =
    closedGate({ ...facts, turnCompleted: true }, track.trigger) ??
    closedSizeGate(measurement.tokens, { ...budget, threshold: due }, track.trigger) ??
    futileGate(settings, track, inspection, measurement, newUserInput ? 0 : track.trigger.tries);
  return { gate, newUserInput, measurement };
}

/** Something was said since the last attempt: the same request again is not tried again. */
function hasNews<Request, Item, Reply>(
  { isUserInput }: Settings<Request, Item, Reply>,
  { trigger }: Track<Request, Item>,
  { raw }: Inspection<Request, Item>,
): boolean {
  return !trigger.attempt || raw.body.length - countReminders(raw.body, isUserInput) > trigger.attempt.count;
}

/** Replacements of this conversation. */
export function recognizeOf(track: Track<unknown, unknown>): RecognizeReplacement {
  return recognizeBy(track.replacements);
}

function readFacts<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  inspection: Inspection<Request, Item>,
  oneShot: boolean,
): GateFacts {
  const { raw } = inspection;
  const recent = raw.body.slice(track.trigger.attempt?.count ?? 0);
  const turns = { toolsOnly: settings.when === 'tool-turn', isUserInput: settings.isUserInput };
  return {
    oneShot,
    disabled: settings.when === 'never',
    turnCompleted: hasCompletedTurn(recent, turns),
    ...readTouch(inspection),
    suppressed: mustWait(settings, track, raw),
  };
}

/** What keeps a conversation from being touched, whatever it weighs and whoever asks. */
export function findUntouchable<Request, Item>(
  { trigger }: Track<Request, Item>,
  inspection: Inspection<Request, Item>,
): Gate | undefined {
  return untouchableGate(readTouch(inspection), trigger);
}

function readTouch<Request, Item>({ raw, view }: Inspection<Request, Item>): TouchFacts {
  return {
    openCall: openCalls(raw.body).length > 0,
    pending: view.context.pending !== undefined,
    serverHeld: view.context.serverHeld !== undefined,
  };
}

function mustWait<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  { trigger }: Track<Request, Item>,
  raw: RequestView<Request, Item>,
): boolean {
  if (!trigger.failure) return false;
  const recent = raw.body.slice(trigger.attempt?.count ?? 0);
  const answered = recent.some(({ messages }) => messages.some(({ role }) => role === 'assistant'));
  return isSuppressed(trigger, standingOf(settings, raw), answered);
}

/** The user said something since the last attempt. Looked at only where it lifts something. */
function hasNewInput<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  { trigger }: Track<Request, Item>,
  raw: RequestView<Request, Item>,
): boolean {
  const { attempt, reportedAt, reported, tries = 0, failure } = trigger;
  if (reported.length === 0 && tries === 0) return false;
  // Failures are remembered by what was said: a host that changes what comes after it starts nothing again.
  if (failure && saidSoFar(settings, raw) === failure.said) return false;
  const unheard = raw.body.slice(Math.max(attempt?.count ?? 0, reportedAt?.count ?? 0));
  return unheard.some((reading) => holdsInput(settings, reading));
}

/** The conversation is between two turns: the newest item is the user's, reminders of the host apart. V68 */
function endsWithInput<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  { body }: RequestView<Request, Item>,
): boolean {
  const newest = body[body.length - 1 - countReminders(body, settings.isUserInput)];
  return newest !== undefined && holdsInput(settings, newest);
}

function holdsInput<Request, Item, Reply>({ isUserInput }: Settings<Request, Item, Reply>, { messages }: Reading<Item>): boolean {
  return messages.some((message) => message.role === 'user' && isUserInput(message));
}

/** How the conversation stands, should its compaction fail. */
export function standingOf<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  raw: RequestView<Request, Item>,
): Standing {
  return { said: saidSoFar(settings, raw), model: raw.context.model, surroundings: fingerprintSurroundings(raw) };
}

/** How much the user has said and what came last: other where something new was said, the same where only the rest changed. */
function saidSoFar<Request, Item, Reply>(
  { isUserInput }: Settings<Request, Item, Reply>,
  raw: RequestView<Request, Item>,
): string {
  const said = messagesOf(raw.body).filter((message) => message.role === 'user' && isUserInput(message));
  return `${said.length} ${fingerprint(said.at(-1)?.parts)}`;
}

/** Closed where what must stay leaves nothing to gain, or where nothing could be replaced. */
export function futileGate<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  { view, budget }: Inspection<Request, Item>,
  { tokens, estimated }: Measurement,
  tries = 0,
): Gate | undefined {
  const { meter, isUserInput } = settings;
  try {
    const { lastUserMessage } = divide(view, { isUserInput, recognize: recognizeOf(track) });
    const said = lastUserMessage && settings.retain.latestUserMessage ? lastUserMessage : [];
    const kept =
      meter.measure({ ...view, body: [], chain: [''] }).tokens +
      (said.length > 0 ? meter.countMessages([{ role: 'user', parts: said }], view.context.model) : 0);
    const most = settings.target === undefined ? budget.inputBudget : Math.min(budget.inputBudget, mostAfter(settings, budget));
    if (kept >= most) return 'irreducible';
    // The provider's tokens for each that is counted here, where it has told of a part of the request how many it has.
    const told = view.held ? 0 : tokens - estimated;
    const ratio = told > 0 ? told / Math.max(1, meter.measure(view).tokens - estimated) : 1;
    // A threshold of the host's own stands for the budget that it would belong to.
    const inputBudget = Math.min(budget.inputBudget, Math.floor(budget.threshold / 0.9));
    // Nor is a larger cap than the default one expected to be filled.
    const cap = Math.min(wantedCap(settings, { inputBudget }), wantedCap({}, { inputBudget }));
    const room = budget.threshold - kept * ratio - cap;
    return isCramped(room, inputBudget) && tries >= mostTries ? 'irreducible' : undefined;
  } catch (error) {
    if (isCompactionError(error) && error.code === 'nothing-to-compact') return 'nothing-to-compact';
    throw error;
  }
}
