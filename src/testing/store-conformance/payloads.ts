import { chooseFrom } from '../choose.ts';
import { expectThat } from '../conformance/check.ts';
import { expectStored, makeEvents, type StoreCheck } from './store-check.ts';

const oddTexts = [
  '',
  'a\nb\r\nc\u2028d\u2029e\u0085f',
  '\0 and \u0000\u0001\u001f\u007f',
  '\ufeffmark',
  'half \ud83d, other half \ude00, whole 😀',
  '\\" \\u0000 { "crc32": "00000000", "seq":1 }\\n',
  "'; DROP TABLE events; --",
  'ünï¢ødé 漢字 ﷽',
  'x'.repeat(1_000_000),
];

const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);

/** A JSON text, so that the name is a key and not the prototype. */
const protoKey: unknown = JSON.parse('{"__proto__":{"a":1},"constructor":2,"":3}');

const oddValues = [
  null,
  true,
  0,
  -1.5e-300,
  1.797e308,
  Number.MAX_SAFE_INTEGER,
  [],
  {},
  [[], {}, [null]],
  { type: 'Buffer', data: [1, 2] },
  protoKey,
];

/** What looks like some encoding of bytes, and is none. */
const lookAlikes = ['$bytes', '$$bytes', '$$$bytes', '$binary', 'base64', '__bytes', '@bytes', '$type'].flatMap((key) => [
  { [key]: 'AAEC' },
  { [key]: { [key]: 'AAEC' } },
  { [key]: null },
  { [key]: 'AAEC', more: 1 },
]);

/** What comes back is what was given. */
export const payloadChecks: readonly StoreCheck[] = [
  {
    name: 'every text and every value of JSON comes back as it was',
    holds: async (place) => {
      const events = makeEvents(1, [...oddTexts, ...oddTexts.map((text) => ({ [text.slice(0, 50)]: text })), ...oddValues]);
      await place.use((store) => store.appendBatch(place.id, events));
      await expectStored(place, events, 'odd values');
    },
  },
  {
    name: 'bytes come back as they were, and what only looks like them too',
    holds: async (place) => {
      const payloads = [
        bytes,
        new Uint8Array(),
        bytes.subarray(3, 7),
        { parts: [{ image: bytes }, { image: { bytes: bytes.slice(200) } }] },
        { $bytes: bytes },
        { $$bytes: [{ $bytes: bytes }] },
        ...lookAlikes,
      ];
      const events = makeEvents(1, payloads);
      await place.use((store) => store.appendBatch(place.id, events));
      await expectStored(place, events, 'bytes');
    },
  },
  {
    name: 'what JSON leaves out is left out, and makes nothing else of what stands beside it',
    holds: async (place) => {
      const looks = lookAlikes.map((payload) => ({ ...payload, none: undefined, run: () => 1 }));
      await place.use((store) => store.appendBatch(place.id, makeEvents(1, looks)));
      await expectStored(place, makeEvents(1, lookAlikes), 'values with something to leave out');
    },
  },
  {
    name: 'what is stored is a copy, and so is what is loaded',
    holds: async (place) => {
      const payload = { text: 'before', list: [1], bytes: Uint8Array.of(1) };
      const events = makeEvents(1, [structuredClone(payload)]);
      await place.use(async (store) => {
        const given = makeEvents(1, [payload]);
        const stored = store.appendBatch(place.id, given);
        given.length = 0;
        payload.text = 'after';
        payload.list.push(2);
        payload.bytes[0] = 2;
        await stored;
        const loaded = await store.load(place.id);
        // What `structuredClone` made of the payload above.
        const copy = loaded.events[0]?.payload as typeof payload | undefined;
        copy?.list.push(3);
        loaded.events.pop();
      });
      await expectStored(place, events, 'a payload that was changed afterwards');
    },
  },
  {
    name: 'many appends and batches to several sessions, opened again and again, lose and double nothing',
    holds: async (place) => {
      const choose = chooseFrom(1);
      const sessions = ['a', 'b', 'c'].map((tail) => ({ id: `${place.id} ${tail}`, events: makeEvents(1, []) }));
      for (let round = 0; round < 12; round++) {
        await place.use(async (store) => {
          for (let step = 0; step < 6; step++) {
            const session = sessions[choose(sessions.length)];
            if (!session) continue;
            const payloads = Array.from({ length: 1 + choose(4) }, (_, index) => ({
              round,
              step,
              index,
              bytes: bytes.slice(choose(256)),
            }));
            const more = makeEvents(session.events.length + 1, payloads);
            const [only] = more;
            if (more.length === 1 && only) await store.append(session.id, only);
            else await store.appendBatch(session.id, more);
            session.events.push(...more);
          }
        });
        for (const { id, events } of sessions) await expectStored({ ...place, id }, events, `round ${round}`);
      }
      expectThat(
        sessions.every(({ events }) => events.length > 10),
        'the rounds reach every session',
      );
    },
  },
];
