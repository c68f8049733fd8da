import type { ProviderAdapter } from './adapters/adapter.ts';
import type { UsageAnchor } from './budget/meter.ts';
import type { Compaction } from './compaction.ts';
import type { Flight } from './flight.ts';
import { BoundedMap } from './history/bounded-map.ts';
import { checkpointsFirst, type ItemReader, isSystem } from './history/reading.ts';
import { repairItems } from './history/repair.ts';
import { endMark, type Mark, type RequestView, readRequest, startsWith } from './history/view.ts';
import type { Message } from './message.ts';
import { afterSuccess, initialTrigger, type TriggerState } from './trigger.ts';

/** Which items at the start of a conversation a replacement stands for. Never changed, so that forks of a conversation can share it. */
export interface Overlay<Item> {
  /** The covered prefix of the caller's own conversation. */
  covered: Mark;
  /** The start of the conversation with the replacement in it, for callers that splice their own array. */
  rebuilt: Mark;
  replacement: Message;
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
    seen: { count: 0, hash: '' },
    flight: undefined,
    doubt: undefined,
  };
}

/** The state once a compaction is installed. The usage anchor belongs to the old prefix: B124. */
export function stateAfter<Request, Item>(
  { replacements, trigger }: TrackState<Item>,
  { result, covered, compactionId }: { result: Compaction<Request, Item>; covered: Mark; compactionId: string },
): TrackState<Item> {
  const { replacement, items } = result;
  return {
    overlay: { covered, rebuilt: endMark(result.view, result.kept), replacement, items, compactionId },
    replacements: new Set([...replacements, ...result.fingerprints].slice(-rememberedReplacements)),
    trigger: afterSuccess(trigger, covered, result.tokensAfter),
    anchor: undefined,
  };
}

/** The state of a conversation that has the replacement in it. */
export function foldState<Item>(state: TrackState<Item>): TrackState<Item> {
  if (!state.overlay) return state;
  return { ...state, overlay: undefined, trigger: { ...state.trigger, attempt: state.overlay.rebuilt, reportedAt: undefined } };
}

/** The conversation as it is sent: the replacement in place of what it covers. System items come from the current request. */
export function applyOverlay<Request, Item, Reply>(
  raw: RequestView<Request, Item>,
  overlay: Overlay<Item>,
  deps: { adapter: ProviderAdapter<Request, Item, Reply>; read: ItemReader<Item> },
): { view: RequestView<Request, Item>; repairs: readonly string[] } {
  const readings = [
    ...raw.leading,
    ...checkpointsFirst([...overlay.items.map(deps.read), ...raw.body.slice(0, overlay.covered.count).filter(isSystem)]),
    ...raw.body.slice(overlay.covered.count),
  ];
  const { items: sound, repairs } = repairItems(readings, deps, { closeOpen: false });
  return { view: readRequest(deps.adapter, deps.read, deps.adapter.withItems(raw.request, sound)), repairs };
}

function stateOf<Item>({ overlay, replacements, trigger, anchor }: TrackState<Item>): TrackState<Item> {
  return { overlay, replacements, trigger, anchor };
}

/** Tells whose conversation a request continues. */
export interface TrackStore<Request, Item> {
  /** The conversation that the request continues, which has now come this far; a new one where it continues none. */
  find(view: RequestView<Request, Item>, conversation: string | undefined): Track<Request, Item>;
  /** The same as a copy: for a request that is only looked at, or stands beside its conversation. */
  peek(view: RequestView<Request, Item>, conversation: string | undefined): Track<Request, Item>;
  add(track: Track<Request, Item>): void;
  tracks(): Track<Request, Item>[];
}

/** Remembers the `limit` conversations that were used last. `placeOf` tells how far one has come, passing reminders of the host left out. */
export function createTrackStore<Request, Item>(
  placeOf: (view: RequestView<Request, Item>) => Mark,
  limit = 256,
): TrackStore<Request, Item> {
  const named = new BoundedMap<string, Track<Request, Item>>(limit);
  const unnamed = new BoundedMap<Track<Request, Item>, Track<Request, Item>>(limit);

  /** The track with the longest prefix of the view. It is the view's own unless only what it covers fits. */
  function nearest(view: RequestView<Request, Item>): { track: Track<Request, Item>; continues: boolean } | undefined {
    let best: { track: Track<Request, Item>; length: number; continues: boolean } | undefined;
    for (const track of unnamed.values()) {
      const overlay = track.overlay;
      const marks = [
        { mark: track.seen, continues: true },
        ...(overlay
          ? [
              { mark: overlay.rebuilt, continues: true },
              { mark: overlay.covered, continues: false },
            ]
          : []),
      ];
      for (const { mark, continues } of marks) {
        if (mark.count === 0 || !startsWith(view, mark)) continue;
        if (!best || mark.count > best.length || (mark.count === best.length && continues && !best.continues))
          best = { track, length: mark.count, continues };
      }
    }
    return best;
  }

  /** A rewind or a fork behind the covered part: it shares the replacement and goes its own way from there. */
  function fork({ overlay, replacements, trigger }: TrackState<Item>): Track<Request, Item> {
    const track = createTrack<Request, Item>();
    return Object.assign(track, { overlay, replacements, trigger: { ...trigger, inDoubt: undefined } });
  }

  return {
    find(view, conversation) {
      if (conversation !== undefined) {
        const track = named.get(conversation) ?? createTrack<Request, Item>(conversation);
        named.set(conversation, track);
        return settle(track, view, placeOf(view));
      }
      const best = nearest(view);
      const track = best?.continues ? best.track : best ? fork(best.track) : createTrack<Request, Item>();
      unnamed.set(track, track);
      return settle(track, view, placeOf(view));
    },
    peek(view, conversation) {
      const best =
        conversation === undefined ? nearest(view) : { track: named.get(conversation) ?? createTrack(), continues: true };
      const copy = createTrack<Request, Item>(conversation);
      if (best) Object.assign(copy, stateOf(best.continues ? best.track : fork(best.track)));
      return settle(copy, view, placeOf(view));
    },
    add(track) {
      if (track.conversation === undefined) unnamed.set(track, track);
      else named.set(track.conversation, track);
    },
    tracks: () => [...named.values(), ...unnamed.values()],
  };
}

/** Drops what no longer fits the caller's conversation: it was rewound, edited or spliced. */
function settle<Request, Item>(track: Track<Request, Item>, view: RequestView<Request, Item>, place: Mark): Track<Request, Item> {
  const { overlay } = track;
  if (overlay && !startsWith(view, overlay.covered)) {
    if (startsWith(view, overlay.rebuilt)) Object.assign(track, foldState(stateOf(track)));
    else {
      track.overlay = undefined;
      track.trigger = { ...track.trigger, sizeAfter: undefined };
      track.anchor = undefined;
    }
  }
  const { attempt, reportedAt } = track.trigger;
  if (attempt && !startsWith(view, attempt)) track.trigger = { ...track.trigger, attempt: undefined };
  if (reportedAt && !startsWith(view, reportedAt)) track.trigger = { ...track.trigger, reportedAt: undefined };
  track.seen = place;
  return track;
}
