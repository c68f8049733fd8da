import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CompactionEvent } from '../../src/events.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import type { Summarizer } from '../../src/summarize/summarizer.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { type Deferred, deferred, microtasks } from '../support/deferred.ts';
import { freezeDeep } from '../support/freeze.ts';
import {
  goodSummary,
  longItems,
  occurrences,
  reportModel,
  smallBudget,
  smallOptions,
  told,
  transcript,
} from '../support/report-model.ts';
import { onAllShapes, setConversation } from '../support/report-shapes.ts';

interface Operation {
  what: 'append' | 'prepare' | 'compact' | 'abort' | 'cancel' | 'summary' | 'failure' | 'stored' | 'refused' | 'reset';
  steps: number;
}

const operations: readonly Operation['what'][] = [
  'append',
  'prepare',
  'compact',
  'abort',
  'cancel',
  'summary',
  'failure',
  'stored',
  'refused',
  'reset',
];

const script: fc.Arbitrary<Operation[]> = fc.array(
  fc.record({
    // What moves a compaction on comes more often than what ends it early.
    what: fc.constantFrom(...operations, 'append', 'prepare', 'summary', 'summary', 'stored', 'stored'),
    steps: fc.constantFrom(0, 1, 2, 5, 40, 40),
  }),
  { minLength: 12, maxLength: 30 },
);

/** The marks in a value, in the order in which they are there. */
function marksIn(value: unknown): number[] {
  return [...JSON.stringify(value).matchAll(/\[\[(\d+)\]\]/g)].map(([, number]) => Number(number));
}

onAllShapes((shape) => {
  const { user, calls, results, assistant } = shape;

  it('B098: the property: however appends, aborts, faults and resets interleave, nothing is lost, and each compaction is all or nothing', async () => {
    let applied = 0;
    await fc.assert(
      fc.asyncProperty(script, async (operations) => {
        const events: CompactionEvent[] = [];
        const summaries: Deferred<boolean>[] = [];
        const commits: { id: string; answer: Deferred<void> }[] = [];
        const stored = new Set<string>();
        const aborts: AbortController[] = [];
        const ends: Promise<unknown>[] = [];
        let mark = 0;
        let expected: number[] = [];
        const turn = () => {
          const [asked, answered] = [mark++, mark++];
          expected.push(asked, answered);
          return freezeDeep([user(`[[${asked}]] ${'p'.repeat(800)}`), assistant(`[[${answered}]] ${'q'.repeat(800)}`)]);
        };
        // Tells what it has seen: what is in no summary and not in the history is lost.
        const summarizer: Summarizer = async ({ messages }) => {
          const gate = deferred<boolean>();
          summaries.push(gate);
          if (!(await gate.promise)) throw new Error('no summary');
          return {
            text: marksIn(messages)
              .map((number) => `[[${number}]]`)
              .join(''),
          };
        };
        const first = freezeDeep(shape.request(turn()));
        const loop = new AutoCompactingLoop(first, {
          adapter: shape.adapter,
          ...smallBudget,
          summary: { summarizer },
          onEvent: (event) => void events.push(event),
          async commit({ compactionId }) {
            const answer = deferred();
            commits.push({ id: compactionId, answer });
            await answer.promise;
            stored.add(compactionId);
          },
        });
        const run = (start: (signal: AbortSignal) => Promise<unknown>): void => {
          const abort = new AbortController();
          aborts.push(abort);
          ends.push(start(abort.signal).catch((error: unknown) => error));
        };
        const perform: Record<Operation['what'], () => void> = {
          append: () => loop.append(turn()),
          prepare: () => run((signal) => loop.prepare({ signal })),
          compact: () => run((signal) => loop.compact({ signal })),
          abort: () => aborts.at(-1)?.abort(new Error('stopped')),
          cancel: () => loop.cancelCompaction(),
          summary: () => summaries.at(-1)?.resolve(true),
          failure: () => summaries.at(-1)?.resolve(false),
          stored: () => commits.at(-1)?.answer.resolve(),
          refused: () => commits.at(-1)?.answer.reject(new Error('disk full')),
          reset() {
            expected = [];
            loop.reset(freezeDeep(shape.request(turn())));
          },
        };
        const isComplete = (): void => {
          const marks = marksIn(loop.request);
          expect(new Set(marks)).toEqual(new Set(expected));
          const tail = marksIn(transcript(shape, loop.request).slice(1));
          expect(tail).toEqual([...tail].sort((left, right) => left - right));
        };
        for (const { what, steps } of operations) {
          perform[what]();
          await microtasks(steps);
          isComplete();
        }
        for (let round = 0; round < ends.length + 2; round++) {
          for (const gate of summaries) gate.resolve(true);
          await microtasks(50);
          for (const { answer } of commits) answer.resolve();
          await microtasks(50);
        }
        await Promise.all(ends); // nobody waits for ever
        isComplete();

        const starts = events.filter(({ type }) => type === 'auto_compaction_started');
        const terminal = events.filter(({ type }) => /applied|cancelled|failed/.test(type));
        const idOf = (event: CompactionEvent): string => event.compactionId ?? '';
        expect(terminal.map(idOf).sort()).toEqual(starts.map(idOf).sort());
        for (const event of terminal) {
          // What was told is what was stored, unless the user started over meanwhile.
          if (event.type === 'auto_compaction_applied') expect(stored).toContain(event.compactionId);
          else if (event.type !== 'auto_compaction_failed' || event.error.code !== 'reset')
            expect(stored).not.toContain(event.compactionId);
        }
        applied += stored.size;

        // The lock is free again.
        loop.append(turn());
        run((signal) => loop.compact({ signal }));
        await microtasks(40);
        summaries.at(-1)?.resolve(true);
        await microtasks(40);
        commits.at(-1)?.answer.resolve();
        await expect(ends.at(-1)).resolves.toMatchObject({ compactionId: commits.at(-1)?.id });
        isComplete();
      }),
      { numRuns: 150 },
    );
    expect(applied).toBeGreaterThan(20);
  });

  it('B098: what a caller clears in its own history while a summary is written stays cleared', async () => {
    const { options, events } = smallOptions(shape);
    const items = longItems(shape);
    const request = shape.request(items, { system: '' });
    // An array that the caller goes on changing, as `messages` in many a loop.
    const messages = [...items];
    setConversation(request, messages);
    const model = reportModel(shape, [
      () => {
        messages.splice(0, messages.length, user('A new start.'));
        return shape.reply({ text: goodSummary });
      },
    ]);
    await withAutoCompaction(model.send, options)(request);
    expect(told(events)).toEqual(['started', 'failed stale']);
    expect(transcript(shape, model.turns[0]!.request)).toEqual(transcript(shape, shape.request([user('A new start.')])));
  });

  it('B108: a summary that is there and cannot be used leaves no trace', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape, [() => shape.reply({ text: `STALE ${'r'.repeat(9000)}` })]);
    const loop = new AutoCompactingLoop(shape.request(longItems(shape)), {
      ...options,
      send: model.send,
      commit: () => expect.unreachable('nothing to store'),
    });
    const before = loop.request;
    await loop.send();
    expect(told(events)).toEqual(['started', 'failed not-smaller']);
    expect(model.turns[0]!.request).toEqual(before);
    const failed = events.map((event) =>
      event.type === 'auto_compaction_failed' ? { ...event, text: event.error.message } : event,
    );
    expect(occurrences([loop.request, loop.snapshot(), failed], 'STALE')).toBe(0);
  });

  it('B110: calls that run across a compaction get their own results, and nothing is known of the old history', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape, [], () => shape.reply({ calls: ['next_call'] }));
    const loop = new AutoCompactingLoop(shape.request(longItems(shape)), { ...options, send: model.send });
    const { calls: run } = await loop.appendReply(await loop.send());
    expect(told(events)).toEqual(['started', 'applied']);
    expect(run.map(({ id }) => id)).toEqual(['next_call']);
    loop.append(results([['next_call', 'what it found']]));
    const sent = await loop.prepare();
    expect(shape.validate(JSON.parse(JSON.stringify(sent)))).toEqual([]);
    expect(occurrences(sent, 'what it found')).toBe(1);
    expect(occurrences(sent, 'No result was recorded')).toBe(0);

    // The wrapper: usage and places of the old history are forgotten with it.
    const wrapped = reportModel(shape, [], () => shape.reply({ text: 'Ok.', inputTokens: 5000 }));
    const create = withAutoCompaction(wrapped.send, options);
    const items = [user('Start.'), assistant('Ok.'), user('More.')];
    await create(shape.request(items));
    expect(create.compactor.estimate(shape.request([...items, assistant('Ok.')])).tokens).toBeGreaterThan(5000);
    await create.compactor.compact(shape.request([...items, assistant('s'.repeat(400))]));
    const estimate = create.compactor.estimate(shape.request([...items, assistant('s'.repeat(400)), user('And?')]));
    expect(estimate.tokens).toBeLessThan(300);
    expect(estimate.sources.tokens).toBe('estimate');
  });

  it('B099: a store that loses its items in the middle of the replacement loses none of the loop', async () => {
    for (const failsAt of ['clear', 'write', 'restore'] as const) {
      const { options, events } = smallOptions(shape);
      const model = reportModel(shape);
      let rows: unknown[] = ['old'];
      const loop = new AutoCompactingLoop(shape.request([...longItems(shape), ...calls(['c']), ...results([['c', 'Fine.']])]), {
        ...options,
        send: model.send,
        async commit({ replacement }) {
          if (failsAt === 'clear') throw new Error('clear failed');
          rows = [];
          if (failsAt === 'write') throw new Error('write failed');
          rows = replacement;
          throw new Error('restore failed');
        },
      });
      const before = JSON.stringify(loop.request);
      await loop.send();
      expect(told(events)).toEqual(['started', 'failed commit-failed']);
      expect(JSON.stringify(loop.request)).toBe(before);
      expect(JSON.stringify(model.turns[0]!.request)).toBe(before);
      await expect(loop.compact()).rejects.toMatchObject({ code: 'commit-failed', cause: { message: `${failsAt} failed` } });
      expect(JSON.stringify(loop.request)).toBe(before); // all the data, to store it again
      expect(rows).toHaveLength(failsAt === 'write' ? 0 : 1);
    }
  });

  it('the caller is handed a good summary once', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, options);
    const request = freezeDeep(shape.request(freezeDeep(longItems(shape))));
    await Promise.all([create(request), create(request), create(request), create(request)]);
    expect(told(events)).toEqual(['started', 'applied']);
    for (const turn of model.turns) expect(occurrences(turn.request, goodSummary)).toBe(1);
  });
});
