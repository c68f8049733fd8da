import fc from 'fast-check';
import type { ReportShape } from './report-shapes.ts';

/** What a generated history is made of. Texts are unique, so that each can be followed to where it ends up. */
export type Event =
  | { kind: 'user'; text: string }
  | { kind: 'assistant'; text: string }
  | { kind: 'calls'; ids: string[]; text: string }
  | { kind: 'results'; entries: [id: string, text: string][] };

interface Round {
  ids: string[];
  order: number[];
  together: boolean;
  steering: boolean;
  answer: boolean;
}

const round: fc.Arbitrary<Round> = fc.record({
  // Few ids, so that they are used again.
  ids: fc.uniqueArray(fc.constantFrom('call_a', 'call_b', 'call_c', 'call_d'), { minLength: 1, maxLength: 3 }),
  order: fc.array(fc.nat(5), { minLength: 3, maxLength: 3 }),
  together: fc.boolean(),
  steering: fc.boolean(),
  answer: fc.boolean(),
});

/** Histories that a provider accepts, except that the last calls may still be open. */
export const validHistory: fc.Arbitrary<Event[]> = fc
  .array(round, { minLength: 1, maxLength: 6 })
  .map(nameCallsApart)
  .map(writeRounds);

function nameCallsApart(rounds: readonly Round[]): Round[] {
  return rounds.map((one, index) => ({ ...one, ids: one.ids.map((id) => `${id}${index}`) }));
}

function writeRounds(rounds: readonly Round[]): Event[] {
  let number = 0;
  const unique = (what: string): string => `${what} number ${number++} of this conversation, told once and never again`;
  const events: Event[] = [{ kind: 'user', text: unique('question') }];
  for (const { ids, order, together, steering, answer } of rounds) {
    events.push({ kind: 'calls', ids, text: unique('action') });
    const entries = ids
      .map((id, index): [string, string, number] => [id, unique('result'), order[index] ?? 0])
      .sort((left, right) => left[2] - right[2])
      .map(([id, text]): [string, string] => [id, text]);
    if (together) events.push({ kind: 'results', entries });
    else for (const entry of entries) events.push({ kind: 'results', entries: [entry] });
    if (steering) events.push({ kind: 'user', text: unique('steering') });
    if (answer) events.push({ kind: 'assistant', text: unique('answer') }, { kind: 'user', text: unique('question') });
  }
  return events;
}

type Damage = { kind: 'drop' | 'repeat' | 'swap' | 'steer' | 'cut'; at: number };

const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom('drop', 'repeat', 'swap', 'steer', 'cut'),
  at: fc.nat(60),
});

/** Histories that crashes, aborts, careless cuts and hosts that use ids again leave behind. */
export const brokenHistory: fc.Arbitrary<Event[]> = fc
  .tuple(fc.array(round, { minLength: 1, maxLength: 6 }).map(writeRounds), fc.array(damage, { minLength: 1, maxLength: 4 }))
  .map(([events, damages]) => damages.reduce(applyDamage, events));

function applyDamage(events: Event[], { kind, at }: Damage, number: number): Event[] {
  const index = 1 + (at % Math.max(1, events.length - 1)); // the first question stays
  const event = events[index];
  if (!event) return events;
  switch (kind) {
    case 'drop':
      return events.toSpliced(index, 1);
    case 'repeat':
      return events.toSpliced(index, 0, event);
    case 'swap':
      return events.toSpliced(index, 1).toSpliced(Math.max(1, index - 1), 0, event);
    case 'steer':
      return events.toSpliced(index, 0, { kind: 'user', text: `stray steering ${number}, told once and never again` });
    case 'cut':
      return events.slice(0, index + 1);
  }
}

/** The history as native items, one or more for each event. */
export function writeEvents<Request extends object, Item extends object, Reply>(
  shape: ReportShape<Request, Item, Reply>,
  events: readonly Event[],
): Item[] {
  return events.flatMap((event) => {
    if (event.kind === 'user') return [shape.user(event.text)];
    if (event.kind === 'assistant') return [shape.assistant(event.text)];
    return event.kind === 'calls' ? shape.calls(event.ids, event.text) : shape.results(event.entries);
  });
}

/** The events behind so many items; undefined where the cut is inside an event. */
export function eventsFrom<Request extends object, Item extends object, Reply>(
  shape: ReportShape<Request, Item, Reply>,
  events: readonly Event[],
  items: number,
): readonly Event[] | undefined {
  const start = events.findIndex((_, index) => writeEvents(shape, events.slice(0, index)).length >= items);
  return start !== -1 && writeEvents(shape, events.slice(0, start)).length === items ? events.slice(start) : undefined;
}

/**
 * After how many items a history may be cut: after each, where one message is one item; where one step of the assistant is several items,
 * between the events.
 */
export function cutsOfHistory<Request extends object, Item extends object, Reply>(
  shape: ReportShape<Request, Item, Reply>,
  events: readonly Event[],
): number[] {
  const length = writeEvents(shape, events).length;
  if (shape.calls(['call'], 'Looking.').length === 1) return Array.from({ length: length - 1 }, (_, index) => index + 1);
  return events.flatMap((_, index) => {
    const cut = writeEvents(shape, events.slice(0, index + 1)).length;
    return cut < length ? [cut] : [];
  });
}
