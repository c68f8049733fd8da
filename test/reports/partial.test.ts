import { expect, it } from 'vitest';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { emptyAnswers, unsignedThoughts } from '../support/report-items.ts';
import {
  goodSummary,
  longItems,
  occurrences,
  replacementsIn,
  reportModel,
  smallBudget,
  smallOptions,
  told,
} from '../support/report-model.ts';
import { onAllShapes, onStreamingShapes } from '../support/report-shapes.ts';
import { cutsOf } from '../support/report-streams.ts';

const unfinished = ['incomplete', 'other'];

onStreamingShapes((shape) => {
  const { user, results, assistant, pieces, play } = shape;

  it('B184: the property: a reply that was cut anywhere is sent back legally, loses nothing that was seen, and runs nothing', async () => {
    const whole = await pieces();
    const cuts = cutsOf(whole);
    expect(cuts.length).toBeGreaterThan(40);
    let unanswered = 0;
    for (const cut of cuts) {
      const { options } = smallOptions(shape);
      const model = reportModel(shape); // refuses what the provider refuses
      const loop = new AutoCompactingLoop(shape.request([user('Read both files, please.')]), {
        ...options,
        budget: { ...smallBudget.budget, threshold: 5000 },
        send: model.send,
      });
      let heard = '';
      const reply = await loop.appendReply(play(cut), {
        onText: (text) => {
          heard += text;
        },
      });
      if (reply.finish === 'tool-calls') {
        // Finished: nothing but the usage is missing.
        expect(whole.length - cut.length).toBeLessThanOrEqual(1);
        expect(reply.calls).toMatchObject([{ input: { path: 'call_1.ts' } }, { input: { path: 'call_2.ts' } }]);
        continue;
      }
      unanswered++;
      expect(unfinished).toContain(reply.finish);
      expect(reply.calls).toEqual([]);
      loop.append([user('Go on.')]);
      await loop.send();
      const sent = JSON.stringify(model.turns[0]!.request);
      expect(sent).toContain(JSON.stringify(heard.toWellFormed().trim()).slice(1, -1));
      expect(sent).not.toMatch(/call_[12]/);
      expect(sent).not.toContain('No result was recorded');
      // And through a compaction.
      loop.append([assistant('a'.repeat(2000)), user('Go on.')]);
      const { request } = await loop.compact();
      expect(occurrences(model.summaries[0]!.request, heard.toWellFormed().trim())).toBeGreaterThan(0);
      expect(JSON.stringify(request)).not.toMatch(/call_[12]/);
      loop.append([user('And now?')]);
      await loop.send();
    }
    expect(unanswered).toBeGreaterThan(40);
  });

  it('a whole reply is kept as it came, and its calls are run once', async () => {
    const whole = await pieces();
    const { options } = smallOptions(shape);
    const loop = new AutoCompactingLoop(shape.request([user('Read both files, please.')]), { ...options, when: 'never' });
    const { calls: run, finish } = await loop.appendReply(play(whole));
    expect(finish).toBe('tool-calls');
    expect(run.map(({ id, input }) => [id, input])).toEqual([
      ['call_1', { path: 'call_1.ts' }],
      ['call_2', { path: 'call_2.ts' }],
    ]);
    loop.append(
      results([
        ['call_1', 'a'],
        ['call_2', 'b'],
      ]),
    );
    expect(shape.validate(loop.request)).toEqual([]);
    for (const seal of ['c2lnbmF0dXJl', 'b3BhcXVl', 'c2lnbmVk'])
      if (occurrences(whole, seal) > 0) expect(occurrences(loop.request, seal)).toBe(1);
  });

  it('B184: an aborted reply adds nothing, and its late events change nothing', async () => {
    const { options } = smallOptions(shape);
    const loop = new AutoCompactingLoop(shape.request([user('Read both files, please.')]), { ...options, when: 'never' });
    const before = JSON.stringify(loop.request);
    const whole = await pieces();
    for (let length = 0; length < whole.length; length++) {
      const abort = new AbortController();
      let seen = 0;
      async function* interrupted(): AsyncGenerator<object> {
        for (const piece of whole) {
          if (seen++ === length) abort.abort('stop');
          yield piece;
        }
      }
      await expect(loop.appendReply(play(interrupted()), { signal: abort.signal })).rejects.toBe('stop');
      expect(JSON.stringify(loop.request)).toBe(before);
    }
  });

  it('B188: a stream that just ends is no finished reply, even after all of its text', async () => {
    const whole = await pieces({ text: goodSummary });
    const told = await pieces({ text: goodSummary, finish: 'length' });
    // Up to where two replies differ neither says how it ends.
    const end = whole.findIndex((piece, index) => shapeOf(piece) !== shapeOf(told[index]));
    expect(end).toBeGreaterThan(0);
    for (let length = 0; length <= end; length++) {
      const { options, events } = smallOptions(shape);
      const loop = new AutoCompactingLoop(shape.request([user('Go.')]), { ...options, when: 'never' });
      expect(unfinished).toContain((await loop.appendReply(play(whole.slice(0, length)))).finish);
      // As a summary it is worth nothing.
      const model = reportModel(shape, [() => play(whole.slice(0, length))]);
      const request = shape.request(longItems(shape));
      await withAutoCompaction(model.send, options)(request);
      expect(model.turns[0]!.request).toBe(request);
      expect(events.at(-1)?.type).toBe('auto_compaction_failed');
    }
  });
});

/** A piece as text, without the ids that are new each time. */
function shapeOf(piece: object | undefined): string {
  return JSON.stringify(piece)?.replace(/"(?:msg|resp)_\d+"/g, '') ?? '';
}

onAllShapes((shape) => {
  const { user, calls, assistant } = shape;
  const unsigned = unsignedThoughts(shape, 'half a tho', 'So it is.');

  if (unsigned.length > 0)
    it('B186: thinking that was signed in part, or not at all, is in no request', async () => {
      for (const cut of unsigned) {
        const { options } = smallOptions(shape);
        const model = reportModel(shape);
        const items = [user('Think.'), cut, ...longItems(shape)];
        const create = withAutoCompaction(model.send, options);
        await create(shape.request(items));
        expect(occurrences(model.summaries[0]!.request, 'half a tho')).toBe(0);
        expect(occurrences(model.summaries[0]!.request, 'So it is.')).toBe(1);
        await create(shape.request([...items, cut, user('Go on.')]));
        expect(occurrences(model.turns[1]!.request, 'half a tho')).toBe(0);
        expect(occurrences(model.turns[1]!.request, 'So it is.')).toBe(1);
      }
    });

  it('B189: a call that was cut off is not said to have been cancelled by the user', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape);
    const items = [
      ...longItems(shape),
      assistant('Ok.'),
      user('Deploy.'),
      ...calls(['deploy']),
      user('Well?'),
      assistant('Hm.'),
      user('Well?'),
    ];
    await withAutoCompaction(model.send, options)(shape.request(items));
    const asked = JSON.stringify(model.summaries[0]!.request);
    expect(asked).toContain('it was interrupted, and may or may not have run');
    expect(asked).not.toMatch(/cancel+ed|aborted by/i);
  });

  it('B190: a conversation that ends in an empty or unfinished turn goes on', async () => {
    const tails = [
      [shape.reply({ text: '', finish: 'cut' })],
      [shape.reply({ text: '', inputTokens: 0 })],
      [shape.reply({ calls: ['never_asked'], finish: 'cut' })],
    ];
    for (const tail of tails) {
      const { options, events } = smallOptions(shape);
      const model = reportModel(shape);
      const loop = new AutoCompactingLoop(shape.request(longItems(shape)), { ...options, send: model.send });
      for (const reply of tail) expect((await loop.appendReply(reply)).calls).toEqual([]);
      const resumed = new AutoCompactingLoop(loop.request, { ...options, send: model.send }, { snapshot: loop.snapshot() });
      resumed.append([user('Are you there?')]);
      await resumed.send();
      expect(told(events)).toContain('applied');
      expect(replacementsIn(shape, model.turns[0]!.request)).toEqual([{ summary: goodSummary, lastUser: 'Are you there?' }]);
    }
  });

  it('B190: a stored conversation with such an end is repaired where it is compacted', async () => {
    for (const tail of [...emptyAnswers(shape), ...calls(['never_answered'])]) {
      const { options } = smallOptions(shape);
      const model = reportModel(shape);
      const items = [...longItems(shape), tail];
      const create = withAutoCompaction(model.send, options);
      const { notices } = await create.compactor.compact(shape.request(items));
      expect(notices.map(({ code }) => code)).toContain('repaired');
      await create(shape.request([...items, user('Are you there?')]));
      expect(model.turns).toHaveLength(1);
    }
  });
});
