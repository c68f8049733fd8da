import type { UsageAnchor } from './budget/meter.ts';
import type { Compaction } from './compaction.ts';
import type { Flight } from './flight.ts';
import type { HeldHistory } from './history/held.ts';
import { isSystem } from './history/reading.ts';
import type { Mark, RequestView } from './history/view.ts';
import type { Message } from './message.ts';
import { type RebuildDeps, rebuildRequest } from './rebuild.ts';
import { afterSuccess, initialTrigger, type TriggerState } from './trigger.ts';

/** Which items at the start of a conversation a replacement stands for. Never changed, so that forks of a conversation can share it. */
export interface Overlay<Item> {
  /** The covered prefix of the caller's own conversation. */
  covered: Mark;
  /** The start of the conversation with the replacement in it, for callers that splice their own array. */
  rebuilt: Mark;
  /** How many items of the caller's own conversation were there when it was installed: reasoning in them is bound to the old beginning. */
  rebased: number;
  replacement: readonly Message[];
  items: readonly Item[];
  compactionId: string;
}

/** What is known of a conversation, apart from what is under way. */
export interface TrackState<Item> {
  overlay: Overlay<Item> | undefined;
  /** Fingerprints of replacements, newest last. */
  replacements: ReadonlySet<string>;
  trigger: TriggerState;
  anchor: UsageAnchor | undefined;
  /** What the server holds in front of the newest request. */
  before: HeldHistory | undefined;
  /** The newest reply that the server holds. */
  held: HeldHistory | undefined;
}

/** One conversation. */
export interface Track<Request, Item> extends TrackState<Item> {
  readonly conversation: string | undefined;
  /** How far the caller's conversation had come when it was last seen. */
  seen: Mark;
  flight: Flight<Compaction<Request, Item>> | undefined;
  /** Ends a commit that is in doubt. */
  doubt: ((committed: boolean) => void) | undefined;
}

const rememberedReplacements = 8;

export function createTrack<Request, Item>(conversation?: string): Track<Request, Item> {
  return {
    conversation,
    overlay: undefined,
    replacements: new Set(),
    trigger: initialTrigger(),
    anchor: undefined,
    before: undefined,
    held: undefined,
    seen: { count: 0, hash: '' },
    flight: undefined,
    doubt: undefined,
  };
}

/** How a compaction and the conversation that it was made of belong together. */
export interface Installation<Request, Item> {
  result: Compaction<Request, Item>;
  /** What the replacement stands for. */
  covered: Mark;
  /** How far the conversation had come when it was looked at. */
  attempt: Mark;
  rebased: number;
  compactionId: string;
}

/** The state once a compaction is installed. The usage anchor belongs to the old prefix: B124. */
export function stateAfter<Request, Item>(
  { replacements, trigger, before, held }: TrackState<Item>,
  { result, covered, attempt, rebased, compactionId }: Installation<Request, Item>,
): TrackState<Item> {
  const { replacement, items } = result;
  return {
    overlay: { covered, rebuilt: result.rebuilt, rebased, replacement, items, compactionId },
    replacements: new Set([...replacements, ...result.fingerprints].slice(-rememberedReplacements)),
    trigger: afterSuccess(trigger, attempt, result.measured),
    anchor: undefined,
    before,
    held,
  };
}

/** The state of a conversation that has the replacement in it, up to a mark that a compaction has looked at. */
export function foldState<Item>(state: TrackState<Item>, attempt: Mark): TrackState<Item> {
  if (!state.overlay) return state;
  return { ...state, overlay: undefined, trigger: { ...state.trigger, attempt, reportedAt: undefined } };
}

/** The conversation as it is sent: the replacement in place of what it covers. System items come from the current request. */
export function applyOverlay<Request, Item, Reply>(
  raw: RequestView<Request, Item>,
  overlay: Overlay<Item>,
  deps: RebuildDeps<Request, Item, Reply>,
): { view: RequestView<Request, Item>; repairs: readonly string[] } {
  const { count } = overlay.covered;
  return rebuildRequest(
    raw.request,
    {
      leading: raw.leading,
      replacement: overlay.items.map(deps.read),
      laterSystem: raw.body.slice(0, count).filter(isSystem),
      rebased: raw.body.slice(count, overlay.rebased),
      rest: raw.body.slice(Math.max(count, overlay.rebased)),
    },
    deps,
  );
}
