import { expectThat } from '../conformance/check.ts';
import { expectCode, expectStored, makeEvents, type StoreCheck } from './store-check.ts';

/** What is stored, in which order, and what is refused. */
export const orderChecks: readonly StoreCheck[] = [
  {
    name: 'a session that nobody has written to is empty',
    holds: async (place) => {
      await expectStored(place, [], 'an unknown session');
    },
  },
  {
    name: 'events come back in order when the store is opened again',
    holds: async (place) => {
      const events = makeEvents(1, ['one', 'two', 'three', 'four', 'five', 'six']);
      const [first, second, , , , sixth] = events;
      await place.use(async (store) => {
        if (first && second) await store.append(place.id, first).then(() => store.append(place.id, second));
      });
      await expectStored(place, events.slice(0, 2), 'two appends');
      await place.use(async (store) => {
        await store.appendBatch(place.id, events.slice(2, 5));
        if (sixth) await store.append(place.id, sixth);
      });
      await expectStored(place, events, 'a batch and an append');
    },
  },
  {
    name: 'an empty batch is nothing',
    holds: async (place) => {
      await place.use((store) => store.appendBatch(place.id, []));
      await expectStored(place, [], 'an empty batch');
    },
  },
  {
    name: 'events that do not follow on what is stored are refused and change nothing',
    holds: async (place) => {
      const stored = makeEvents(1, ['one', 'two']);
      await place.use(async (store) => {
        await expectCode(
          'a session that begins at 2',
          () => store.appendBatch(place.id, makeEvents(2, ['early'])),
          'store-conflict',
        );
        await store.appendBatch(place.id, stored);
        for (const seq of [1, 2, 4, 1000])
          await expectCode(
            `batch ${seq} after 2`,
            () => store.appendBatch(place.id, makeEvents(seq, ['no', 'no'])),
            'store-conflict',
          );
        for (const event of [...makeEvents(2, ['again']), ...makeEvents(4, ['late'])])
          await expectCode(`event ${event.seq} after 2`, () => store.append(place.id, event), 'store-conflict');
        await store.appendBatch(place.id, makeEvents(3, ['three']));
      });
      await expectStored(place, [...stored, ...makeEvents(3, ['three'])], 'what was not refused');
    },
  },
  {
    name: 'a batch with one wrong event is refused whole',
    holds: async (place) => {
      const cycle: Record<string, unknown> = {};
      cycle.self = cycle;
      const [good] = makeEvents(1, ['good']);
      const wrong: Record<string, unknown[]> = {
        'a number twice': [...makeEvents(1, ['a']), ...makeEvents(1, ['b'])],
        'a number left out': [...makeEvents(1, ['a']), ...makeEvents(3, ['b'])],
        'number 0': makeEvents(0, ['a', 'b']),
        'half a number': makeEvents(1.5, ['a']),
        'no kind': [{ ...good, kind: '' }],
        'no event': [null],
        'a number that is none': [{ ...good, seq: Object.create(null) }],
        'a kind that is no text': [{ ...good, kind: 7 }],
        'a bigint': makeEvents(1, ['a', 1n]),
        'a cycle': makeEvents(1, ['a', cycle]),
      };
      await place.use(async (store) => {
        // From JavaScript anything may come.
        for (const [what, events] of Object.entries(wrong))
          await expectCode(what, () => store.appendBatch(place.id, events as ReturnType<typeof makeEvents>), 'invalid-event');
        await expectCode('an id without a text', () => store.load(''), 'invalid-options');
        await expectCode('an id with a NUL', () => store.appendBatch('a\0b', makeEvents(1, ['a'])), 'invalid-options');
      });
      await expectStored(place, [], 'only wrong batches');
    },
  },
  {
    name: 'of many writes from the same state one is stored, and each batch is whole',
    holds: async (place) => {
      for (let round = 0; round < 5; round++) {
        const before = await place.use((store) => store.load(place.id));
        const first = before.events.length + 1;
        const batches = Array.from({ length: 8 }, (_, writer) =>
          makeEvents(first, [`${writer} a`, `${writer} b`, `${writer} c`]),
        );
        const results = await place.use((store) =>
          Promise.allSettled(batches.map((batch) => store.appendBatch(place.id, batch))),
        );
        const stored = results.flatMap(({ status }, writer) => (status === 'fulfilled' ? [writer] : []));
        expectThat(stored.length === 1, `${stored.length} of 8 batches with the same number were stored`);
        for (const result of results)
          if (result.status === 'rejected') await expectCode('the others', () => Promise.reject(result.reason), 'store-conflict');
        await expectStored(place, [...before.events, ...(batches[stored[0] ?? 0] ?? [])], 'the one that was stored');
      }
    },
  },
  {
    name: 'sessions are apart, however alike or odd their names',
    holds: async (place) => {
      const { id } = place;
      const long = 'l'.repeat(200);
      const tails = [
        'a',
        'A',
        'á',
        'a\u0301',
        'a ',
        'a/',
        'a\\',
        'a.',
        'a%',
        '~61',
        'a~',
        '/../a',
        '..',
        ':*?"<>|',
        '\n',
        '\u2028',
        '😀',
      ];
      const names = [...tails, `${long}a`, `${long}b`, `${'ü'.repeat(150)}a`, `${'ü'.repeat(150)}b`].map(
        (tail) => `${id}${tail}`,
      );
      await place.use(async (store) => {
        for (const [index, name] of names.entries()) await store.appendBatch(name, makeEvents(1, [index, name]));
      });
      for (const [index, name] of names.entries())
        await expectStored({ ...place, id: name }, makeEvents(1, [index, name]), `session ${JSON.stringify(name)}`);
    },
  },
];
