import { BoundedMap } from './history/bounded-map.ts';
import type { HeldHistory } from './history/held.ts';
import { fingerprintSurroundings, type Mark, type RequestView, startsWith } from './history/view.ts';
import { createTrack, foldState, type Track, type TrackState } from './overlay.ts';
import { initialTrigger } from './trigger.ts';

/** Tells whose conversation a request continues. */
export interface TrackStore<Request, Item> {
  /** The conversation that the request continues, which has now come this far; a new one where it continues none. */
  find(view: RequestView<Request, Item>, conversation: string | undefined): Track<Request, Item>;
  /** The same as a copy: for a request that is only looked at, or stands beside its conversation. */
  peek(view: RequestView<Request, Item>, conversation: string | undefined): Track<Request, Item>;
  /** Takes up the state of a conversation. */
  add(track: Track<Request, Item>): void;
  /** Remembers a reply that the server holds, to the request with which the track was at `place`: other requests may go on from it. */
  hold(track: Track<Request, Item>, place: Mark, history: HeldHistory): void;
  tracks(): Track<Request, Item>[];
}

/** A reply that the server holds, and whose it is. */
interface KnownReply<Request, Item> {
  history: HeldHistory;
  track: Track<Request, Item>;
  place: Mark;
}

/** How a track fits a view. */
interface Match<Request, Item> {
  track: Track<Request, Item>;
  /** How much of the view its replacement stands for. */
  covered: number;
  /** How much of the view is known of it. */
  length: number;
  /** The view is its own: not only what it covers fits. */
  continues: boolean;
}

/** A name may stand for several conversations, of which one is the host's main one. */
const tracksForName = 4;
const repliesForTrack = 8;

/** Remembers the conversations that were used last. `placeOf` tells how far one has come, passing reminders of the host left out. */
export function createTrackStore<Request, Item>(
  placeOf: (view: RequestView<Request, Item>) => Mark,
  limit = 256,
): TrackStore<Request, Item> {
  type View = RequestView<Request, Item>;
  type OwnTrack = Track<Request, Item>;
  const named = new BoundedMap<OwnTrack, OwnTrack>(limit * tracksForName);
  const unnamed = new BoundedMap<OwnTrack, OwnTrack>(limit);
  const replies = new BoundedMap<string, KnownReply<Request, Item>>(limit * repliesForTrack);
  const kept = new WeakSet<OwnTrack>();
  /** The last that went on from a reply that nobody told of, without a name: whose it is cannot be known. */
  let stranger: OwnTrack | undefined;

  function keep(track: OwnTrack): void {
    kept.add(track);
    (track.conversation === undefined ? unnamed : named).set(track, track);
  }

  function tracksOf(conversation: string | undefined): OwnTrack[] {
    return conversation === undefined
      ? [...unnamed.values()]
      : [...named.values()].filter((track) => track.conversation === conversation);
  }

  /** What is most like a conversation of which no content is known. */
  function namesake(view: View, conversation: string | undefined, tracks: readonly OwnTrack[]): OwnTrack | undefined {
    if (conversation !== undefined) return tracks.at(-1);
    return view.context.heldBefore === undefined ? undefined : stranger;
  }

  function replyBefore(view: View): KnownReply<Request, Item> | undefined {
    return view.context.heldBefore === undefined ? undefined : replies.get(view.chain[1] ?? '');
  }

  /** The track of this content, or a new one that begins with what is known. A name narrows the choice, and does not make it. */
  function locate(view: View, conversation: string | undefined): { track: OwnTrack; passing?: boolean } {
    const tracks = tracksOf(conversation);
    const nearest = findNearest(view, tracks);
    if (nearest?.continues) return { track: nearest.track };
    const reply = replyBefore(view);
    if (reply && goesOn(reply, conversation)) return { track: reply.track };

    const track = createTrack<Request, Item>(conversation);
    const origin = nearest?.track ?? reply?.track;
    if (origin) Object.assign(track, forkState(origin));
    else Object.assign(track, inheritState(namesake(view, conversation, tracks) ?? track));
    const doubtful = conversation === undefined ? undefined : tracks.find(({ trigger }) => trigger.inDoubt !== undefined);
    if (!doubtful) return { track };
    // Nothing is compacted under the name until the doubt has ended, and nothing is left behind that would not hear of its end.
    track.trigger = { ...track.trigger, inDoubt: doubtful.trigger.inDoubt };
    return { track, passing: true };
  }

  /** Drops what no longer fits the caller's conversation: it was spliced, or goes on from a reply. */
  function settle(track: OwnTrack, view: View): OwnTrack {
    const { overlay } = track;
    const before = replyBefore(view)?.history;
    track.before = before;
    if (overlay && !startsWith(view, overlay.covered)) {
      if (startsWith(view, overlay.rebuilt)) Object.assign(track, foldState(stateOf(track), overlay.rebuilt));
      else {
        track.overlay = undefined;
        if (!before) track.trigger = { ...track.trigger, sizeAfter: undefined };
        track.anchor = undefined;
      }
    }
    // Whatever stands around the new request: no estimate of what the server holds comes nearer.
    if (before && !(track.anchor && startsWith(view, track.anchor.mark)))
      track.anchor = { mark: before.mark, surroundings: fingerprintSurroundings(view), tokens: before.tokens };
    const { attempt, reportedAt } = track.trigger;
    if (attempt && !startsWith(view, attempt)) track.trigger = { ...track.trigger, attempt: undefined };
    if (reportedAt && !startsWith(view, reportedAt)) track.trigger = { ...track.trigger, reportedAt: undefined };
    track.seen = placeOf(view);
    return track;
  }

  return {
    find(view, conversation) {
      const { track, passing } = locate(view, conversation);
      if (!passing) keep(track);
      settle(track, view);
      if (view.context.heldBefore !== undefined && !track.before && conversation === undefined) stranger = track;
      return track;
    },
    peek(view, conversation) {
      const copy = createTrack<Request, Item>(conversation);
      // A request that says nothing is about the conversation that its name was used for last.
      const last = view.body.length === 0 && conversation !== undefined ? tracksOf(conversation).at(-1) : undefined;
      if (last) return Object.assign(copy, stateOf(last));
      return settle(Object.assign(copy, stateOf(locate(view, conversation).track)), view);
    },
    add(track) {
      keep(track);
      if (track.held) replies.set(track.held.mark.hash, { history: track.held, track, place: track.seen });
    },
    hold(track, place, history) {
      if (!kept.has(track)) return;
      replies.set(history.mark.hash, { history, track, place });
      if (isSame(track.seen, place)) track.held = history;
    },
    tracks: () => [...named.values(), ...unnamed.values()],
  };
}

/** The track whose replacement stands for the most of the view; among these the one of which the most is known, used last. */
function findNearest<Request, Item>(
  view: RequestView<Request, Item>,
  tracks: readonly Track<Request, Item>[],
): Match<Request, Item> | undefined {
  let best: Match<Request, Item> | undefined;
  for (const track of tracks) {
    const { overlay, seen } = track;
    const covered = fittingCount(view, overlay?.covered);
    const own = Math.max(fittingCount(view, seen), fittingCount(view, overlay?.rebuilt));
    const length = Math.max(own, covered);
    if (length === 0) continue;
    const match = { track, covered, length, continues: own === length };
    if (!best || isNearer(match, best)) best = match;
  }
  return best;
}

function isNearer<Request, Item>(match: Match<Request, Item>, best: Match<Request, Item>): boolean {
  if (match.covered !== best.covered) return match.covered > best.covered;
  if (match.length !== best.length) return match.length > best.length;
  return match.continues || !best.continues;
}

/** How many items the mark stands for, 0 where the view does not begin with them. */
function fittingCount(view: RequestView<unknown, unknown>, mark: Mark | undefined): number {
  return mark && startsWith(view, mark) ? mark.count : 0;
}

/** True where the track can go on from the reply: it has not gone on otherwise, and loses no replacement of an array of the caller's. */
function goesOn<Request, Item>({ track, place }: KnownReply<Request, Item>, conversation: string | undefined): boolean {
  if (track.conversation !== conversation || track.flight) return false;
  return isSame(track.seen, place) && !(track.overlay && !track.before);
}

function isSame(left: Mark, right: Mark): boolean {
  return left.count === right.count && left.hash === right.hash;
}

function stateOf<Item>({ overlay, replacements, trigger, anchor, before, held }: TrackState<Item>): TrackState<Item> {
  return { overlay, replacements, trigger, anchor, before, held };
}

/** Of a conversation that shares its beginning with another, and its replacement where that fits, and goes its own way from there. */
function forkState<Item>({
  overlay,
  replacements,
  trigger,
}: TrackState<Item>): Pick<TrackState<Item>, 'overlay' | 'replacements' | 'trigger'> {
  return { overlay, replacements, trigger: { ...trigger, inDoubt: undefined } };
}

/**
 * Of a conversation that shares no more than its name with another: what failed is remembered by what was said, and notices are given
 * once.
 */
function inheritState<Item>({ replacements, trigger }: TrackState<Item>): Pick<TrackState<Item>, 'replacements' | 'trigger'> {
  const { failures, failure, reported, provenWindow } = trigger;
  return { replacements, trigger: { ...initialTrigger(), failures, failure, reported, provenWindow } };
}
