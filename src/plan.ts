import { promptFor } from './ask-summary.ts';
import type { BudgetEstimate } from './budget/estimate.ts';
import { copyDeep } from './copy.ts';
import { decide, recognizeOf } from './decide.ts';
import { type CompactionErrorCode, isCompactionError } from './errors.ts';
import type { Omitted } from './events.ts';
import { isSystem } from './history/reading.ts';
import { countShared, divide } from './history/replaced.ts';
import { estimateInspection, type Inspection, inspect, readRaw } from './inspection.ts';
import type { Message } from './message.ts';
import type { Track } from './overlay.ts';
import { retainVerbatim } from './retain.ts';
import { mostAfter, sizeBeside, sizeReplaced } from './saving.ts';
import { type Settings, withRoute } from './settings.ts';
import { findRoom, sizesOf, wantedCap } from './summary-sizes.ts';
import type { Gate } from './trigger.ts';

/** What `prepare` would do with a request now. */
export interface CompactionPlan {
  wouldCompact: boolean;
  /** Why it would be tried and fail; known without asking the model. */
  obstacle?: CompactionErrorCode | undefined;
  /** What the summary could not be asked about; absent where it would be asked about everything. */
  omitted?: Omitted | undefined;
  /** The first gate that is closed; absent where compaction would happen. */
  gate?: Gate | undefined;
  estimate: BudgetEstimate;
  /** What a summary would replace. */
  summarized: { items: number; tokens: number };
  /**
   * What would stay: system items, the newest input of the user, and by `retain` how many items at least, of which some may be cut: beside
   * a summary that is shorter than it may be, there is room for more.
   */
  kept: { systemItems: number; lastUserMessage?: Message | undefined; retainedItems: number };
  /** What is pending where that gate is closed, for instance `assistant-last`. */
  pending?: string | undefined;
  /** Why the history is the server's, where it is. */
  serverHeld?: string | undefined;
}

/** A dry run with the meter and the overlay of `prepare`; asks no model and changes nothing. */
export async function planCompaction<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  request: Request,
  oneShot: boolean,
): Promise<CompactionPlan> {
  const inspection = inspect(settings, track, readRaw(settings, request));
  const { gate } = await decide(settings, track, inspection, oneShot);
  const { obstacle, omitted } = gate === undefined ? foresee(settings, track, inspection) : {};
  return {
    wouldCompact: gate === undefined && obstacle === undefined,
    gate,
    obstacle,
    omitted,
    estimate: estimateInspection(settings, inspection),
    ...dividePlan(settings, track, inspection),
    pending: inspection.view.context.pending,
    serverHeld: inspection.view.context.serverHeld,
  };
}

function dividePlan<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  inspection: Inspection<Request, Item>,
): Pick<CompactionPlan, 'summarized' | 'kept'> {
  const { raw, view, budget, anchor } = inspection;
  const { meter, isUserInput } = settings;
  const recognize = recognizeOf(track);
  try {
    const divided = divide(view, { isUserInput, recognize });
    const lastUserMessage = settings.retain.latestUserMessage ? divided.lastUserMessage : undefined;
    const whole = { ...divided, lastUserMessage };
    // As long as a summary may be.
    const room = mostAfter(settings, budget) - sizeBeside(whole, view, meter) - wantedCap(settings, budget);
    const place = { view, own: countShared(raw.body, view.body), budget, recognize, room };
    const { part, retained } = retainVerbatim(whole, place, withRoute(settings, view)) ?? { part: whole, retained: [] };
    const said = divided.lastUserMessage;
    return {
      summarized: { items: part.replaced.length, tokens: sizeReplaced(part, view, meter.measure(view, anchor).tokens, meter) },
      kept: {
        systemItems: view.leading.length + part.laterSystem.length + part.tail.filter(isSystem).length,
        lastUserMessage: said && settings.retain.latestUserMessage ? { role: 'user', parts: copyDeep(said) } : undefined,
        retainedItems: retained.length + part.tail.length - part.reminders,
      },
    };
  } catch (error) {
    if (!isCompactionError(error) || error.code !== 'nothing-to-compact') throw error;
    return { summarized: { items: 0, tokens: 0 }, kept: { systemItems: view.leading.length, retainedItems: 0 } };
  }
}

/** What would keep it from working, or be left out. */
function foresee<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  inspection: Inspection<Request, Item>,
): Pick<CompactionPlan, 'obstacle' | 'omitted'> {
  const { lastUserMessage, saidBefore } = divide(inspection.view, {
    isUserInput: settings.isUserInput,
    recognize: recognizeOf(track),
  });
  if (!lastUserMessage && !saidBefore) return { obstacle: 'no-user-message' };
  try {
    return { omitted: settings.summarizer.foresee?.(describeTask(settings, track, inspection)) };
  } catch (error) {
    if (isCompactionError(error) && error.code === 'summarizer-overflow') return { obstacle: error.code };
    throw error;
  }
}

/** What the default summarizer would be asked. */
function describeTask<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  { view, budget, anchor }: Inspection<Request, Item>,
) {
  const { adapter, meter } = settings;
  const { instruction } = promptFor(settings, 'automatic', {});
  return {
    adapter,
    request: view.request,
    instruction,
    maxTokens: wantedCap(settings, budget),
    ...findRoom(settings, { view, budget, anchor }, instruction),
    countTokens: meter.count,
    ...sizesOf(settings, view, recognizeOf(track)),
  };
}
