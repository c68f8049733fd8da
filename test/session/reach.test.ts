import { expect, it } from 'vitest';
import { createReach } from '../../src/session/reach.ts';
import type { SessionEvent } from '../../src/session.ts';
import { userSays } from '../support/session-run.ts';

/** Kinds of events: `u`ser, `t`urn, `c`ompaction. */
function events(kinds: string): SessionEvent[] {
  return [...kinds].map((kind, index): SessionEvent => {
    const seq = index + 1;
    if (kind === 'u') return { seq, kind: 'user_message', payload: { message: userSays('Go on.') } };
    if (kind === 't') return { seq, kind: 'assistant_turn', payload: { messages: [] } };
    const snapshot = { version: 1 as const, replacements: [], trigger: { failures: 0, reported: [] } };
    const payload = { messages: [], coversSeq: 0, compactionId: 'c', trigger: 'manual' as const, status: '', snapshot };
    return { seq, kind: 'compaction_applied', payload };
  });
}

/** Events that are stored one by one; places are those of the events with these numbers. */
function reachOf(count: number, places: Record<number, number> = {}) {
  const reach = createReach();
  for (let seq = 1; seq <= count; seq++) reach.add({ first: seq, last: seq }, places[seq]);
  return reach;
}

it.each([
  ['all, where every turn was there', 'utut', { 2: 2, 4: 4 }, 4, undefined, 4],
  ['nothing from the first later turn on', 'ututu', { 2: 2, 4: 4 }, 3, undefined, 3],
  ['all, where the server holds what would be counted', 'utut', { 2: 2, 4: 4 }, undefined, undefined, 4],
  ['turns without a place, up to what was recorded', 'uttt', { 2: 2 }, 9, 3, 3],
  ['turns before the newest compaction, whatever was recorded', 'uttc', {}, 9, 1, 4],
])('selects %s', (_name, kinds, places, seen, recorded, expected) => {
  const reach = reachOf(kinds.length, places);
  expect(reach.select(events(kinds), seen, recorded)).toHaveLength(expected);
});

it('selects nothing from what another process stored on, until a conversation is restored', () => {
  const reach = reachOf(2);
  reach.add({ first: 4, last: 4 }); // the third one came from elsewhere
  expect(reach.select(events('utut'), 9, undefined)).toHaveLength(2);
  reach.begin(4);
  reach.add({ first: 5, last: 6 });
  expect(reach.select(events('ututut'), 9, undefined)).toHaveLength(6);
});

it('counts anew after a compaction, and where a place is before the one before it', () => {
  const compacted = reachOf(2, { 2: 8 });
  compacted.compacted();
  expect(compacted.select(events('ut'), 3, undefined)).toHaveLength(2);
  const restarted = reachOf(4, { 2: 8, 4: 2 });
  expect(restarted.select(events('utut'), 3, undefined)).toHaveLength(4);
});
