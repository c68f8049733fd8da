import type { SessionEvent } from './event.ts';

/** How much of a session the loop in front of it has in its conversation. */
export interface Reach {
  /** A conversation was restored: all up to this event is in it. */
  begin(last: number): void;
  /** Events were stored from here. `place`: how many items the conversation had with them. */
  add(events: { first: number; last: number }, place?: number): void;
  /** A compaction was stored: the conversation is counted anew. */
  compacted(): void;
  /**
   * The events that may have been in a conversation of `seen` items: neither what another process stored, nor turns that came later. A turn
   * of which no place is known is later where it came after the event `recorded`.
   */
  select(events: readonly SessionEvent[], seen: number | undefined, recorded: number | undefined): readonly SessionEvent[];
}

export function createReach(): Reach {
  let known = 0;
  const places = new Map<number, number>();
  let newestPlace = 0;

  function isLater({ seq, kind }: SessionEvent, seen: number | undefined, recorded: number | undefined): boolean {
    if (kind !== 'assistant_turn') return false;
    const place = places.get(seq);
    if (place !== undefined && seen !== undefined) return place > seen;
    return recorded !== undefined && seq > recorded;
  }

  return {
    begin(last) {
      known = last;
      places.clear();
    },
    add({ first, last }, place) {
      if (first === known + 1) known = last;
      if (place === undefined) return;
      if (place < newestPlace) places.clear(); // counted anew, as after a reset
      newestPlace = place;
      places.set(last, place);
    },
    compacted: () => places.clear(),
    select(events, seen, recorded) {
      const newest = events.findLastIndex(({ kind }) => kind === 'compaction_applied');
      const end = events.findIndex((event, index) => event.seq > known || (index > newest && isLater(event, seen, recorded)));
      return end === -1 ? events : events.slice(0, end);
    },
  };
}
