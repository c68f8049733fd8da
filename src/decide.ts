import type { Measurement } from './budget/meter.ts';
import { isCompactionError } from './errors.ts';
import { fingerprint } from './history/fingerprint.ts';
import { messagesOf } from './history/reading.ts';
import { countReminders, divide, type RecognizeReplacement, recognizeBy } from './history/replaced.ts';
import { hasCompletedTurn, openCalls } from './history/turns.ts';
import type { RequestView } from './history/view.ts';
import type { Message } from './message.ts';
import type { Track } from './overlay.ts';
import type { Inspection, Settings } from './settings.ts';
import { closedGate, closedSizeGate, type Gate, type GateFacts, isSuppressed } from './trigger.ts';

export interface Decision {
  /** The first gate that is closed; absent where compaction should happen. */
  gate?: Gate | undefined;
  /** The user said something since the last attempt. */
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
  const { view, budget } = inspection;
  const { meter } = settings;
  const { anchor } = track;
  const facts = readFacts(settings, track, inspection, oneShot);
  const { newUserInput } = facts;
  const closed = closedGate(facts, track.trigger);
  const fresh = closed === 'no-turn' && settings.when === 'every-request' && hasNews(settings, track, inspection);
  if (closed && !fresh) return { gate: closed, newUserInput };
  const threshold = fresh ? budget.inputBudget + 1 : budget.threshold;
  if (meter.upperBound(view, anchor) < threshold) return { gate: closed ?? 'below-threshold', newUserInput };

  await meter.load();
  const measurement = meter.measure(view, anchor);
  const gate =
    measurement.tokens < threshold
      ? (closed ?? 'below-threshold')
      : (closedGate({ ...facts, turnCompleted: true }, track.trigger) ??
        closedSizeGate(measurement.tokens, budget, track.trigger) ??
        futileGate(settings, track, inspection));
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
  { raw, view }: Inspection<Request, Item>,
  oneShot: boolean,
): GateFacts {
  const { attempt, reportedAt } = track.trigger;
  const recent = raw.body.slice(attempt?.count ?? 0);
  const unheard = raw.body.slice(Math.max(attempt?.count ?? 0, reportedAt?.count ?? 0));
  const turns = { toolsOnly: settings.when === 'tool-turn', isUserInput: settings.isUserInput };
  const isInput = (message: Message): boolean => message.role === 'user' && settings.isUserInput(message);
  return {
    oneShot,
    disabled: settings.when === 'never',
    turnCompleted: hasCompletedTurn(recent, turns),
    openCall: openCalls(raw.body).length > 0,
    pending: view.context.pending !== undefined,
    serverHeld: view.context.serverHeld !== undefined,
    // Failures are remembered by what was said: a host that changes what comes after it starts nothing again.
    newUserInput: isSuppressed(track.trigger)
      ? saidSoFar(settings, raw) !== track.trigger.failedInput
      : track.trigger.reported.length > 0 && unheard.some(({ messages }) => messages.some(isInput)),
  };
}

/** How much the user has said and what came last: other where something new was said, the same where only the rest changed. */
export function saidSoFar<Request, Item, Reply>(
  { isUserInput }: Settings<Request, Item, Reply>,
  raw: RequestView<Request, Item>,
): string {
  const said = messagesOf(raw.body).filter((message) => message.role === 'user' && isUserInput(message));
  return `${said.length} ${fingerprint(said.at(-1)?.parts)}`;
}

/** Closed where what must stay does not fit, or where nothing could be replaced. */
function futileGate<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  { view, budget }: Inspection<Request, Item>,
): Gate | undefined {
  try {
    const { lastUserMessage } = divide(view, { isUserInput: settings.isUserInput, recognize: recognizeOf(track) });
    const surroundings = settings.meter.measure({ ...view, body: [], chain: [''] }).tokens;
    const kept = lastUserMessage
      ? settings.meter.countMessages([{ role: 'user', parts: lastUserMessage }], view.context.model)
      : 0;
    return surroundings + kept >= budget.inputBudget ? 'irreducible' : undefined;
  } catch (error) {
    if (isCompactionError(error) && error.code === 'nothing-to-compact') return 'nothing-to-compact';
    throw error;
  }
}
