import type { BudgetEstimate } from './budget/estimate.ts';
import { instructionFor, roomForOutput, wantedCap } from './compaction.ts';
import { decide, recognizeOf } from './decide.ts';
import { type CompactionErrorCode, isCompactionError } from './errors.ts';
import { copyDeep } from './history/copy.ts';
import { isSystem } from './history/reading.ts';
import { divide } from './history/replaced.ts';
import type { Message } from './message.ts';
import type { Track } from './overlay.ts';
import { estimateInspection, type Inspection, inspect, readRaw, type Settings } from './settings.ts';
import { fittingCap, isWorthAsking } from './summarize/fork.ts';
import type { Gate } from './trigger.ts';

/** What `prepare` would do with a request now. */
export interface CompactionPlan {
  wouldCompact: boolean;
  /** Why it would be tried and fail; known without asking the model. */
  obstacle?: CompactionErrorCode | undefined;
  /** The first gate that is closed; absent where compaction would happen. */
  gate?: Gate | undefined;
  estimate: BudgetEstimate;
  /** What a summary would replace. */
  summarized: { items: number; tokens: number };
  /** What would stay: system items, and the newest input of the user. */
  kept: { systemItems: number; lastUserMessage?: Message | undefined };
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
  const obstacle = gate === undefined ? findObstacle(settings, track, inspection) : undefined;
  return {
    wouldCompact: gate === undefined && obstacle === undefined,
    gate,
    obstacle,
    estimate: estimateInspection(settings, track, inspection),
    ...dividePlan(settings, track, inspection),
    pending: inspection.view.context.pending,
    serverHeld: inspection.view.context.serverHeld,
  };
}

function dividePlan<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  { view }: Inspection<Request, Item>,
): Pick<CompactionPlan, 'summarized' | 'kept'> {
  try {
    const { replaced, laterSystem, lastUserMessage, tail } = divide(view, {
      isUserInput: settings.isUserInput,
      recognize: recognizeOf(track),
    });
    return {
      summarized: { items: replaced.length, tokens: settings.meter.countReadings(replaced, view.context.model) },
      kept: {
        systemItems: view.leading.length + laterSystem.length + tail.filter(isSystem).length,
        lastUserMessage: lastUserMessage && { role: 'user', parts: copyDeep(lastUserMessage) },
      },
    };
  } catch (error) {
    if (!isCompactionError(error) || error.code !== 'nothing-to-compact') throw error;
    return { summarized: { items: 0, tokens: 0 }, kept: { systemItems: view.leading.length } };
  }
}

function findObstacle<Request, Item, Reply>(
  settings: Settings<Request, Item, Reply>,
  track: Track<Request, Item>,
  { view, budget }: Inspection<Request, Item>,
): CompactionErrorCode | undefined {
  const { lastUserMessage, saidBefore } = divide(view, { isUserInput: settings.isUserInput, recognize: recognizeOf(track) });
  if (!lastUserMessage && !saidBefore) return 'no-user-message';
  if (!settings.asksModel) return undefined;
  const instruction = instructionFor(settings, 'automatic', {});
  const room = roomForOutput(settings, { view, budget, anchor: track.anchor }, instruction);
  const wanted = wantedCap(settings, budget);
  const cap = fittingCap({ adapter: settings.adapter, request: view.request, instruction, roomForOutput: room }, wanted);
  return isWorthAsking(cap, wanted) ? undefined : 'summarizer-overflow';
}
