import { expect, it } from 'vitest';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
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
import { anthropicShape, block, onBothShapes } from '../support/report-shapes.ts';
import { cutsOf, recordedStreams } from '../support/report-streams.ts';

onBothShapes((shape) => {
  const { user, calls, results, assistant } = shape;
  const whole = recordedStreams[shape.name] ?? [];

  it('B184: the property: a reply that was cut anywhere is sent back legally, loses nothing that was seen, and runs nothing', async () => {
    const cuts = cutsOf(whole);
    expect(cuts.length).toBeGreaterThan(60);
    for (const events of cuts) {
      const { options } = smallOptions(shape);
      const model = reportModel(shape); // refuses what the provider refuses
      const loop = new AutoCompactingLoop(shape.request([user('Read both files, please.')]), {
        ...options,
        budget: { ...smallBudget.budget, threshold: 5000 },
        send: model.send,
      });
      let heard = '';
      const reply = await loop.appendReply(shape.stream(events), {
        onText: (text) => {
          heard += text;
        },
      });
      if (reply.finish === 'tool-calls') {
        expect(whole.slice(events.length)).toMatchObject([{ usage: {} }]); // finished: nothing but the usage is missing
        continue;
      }
      expect([reply.finish, reply.calls]).toEqual(['incomplete', []]);
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
  });

  it('a whole reply is kept as it came, and its calls are run once', async () => {
    const { options } = smallOptions(shape);
    const loop = new AutoCompactingLoop(shape.request([user('Read both files, please.')]), { ...options, when: 'never' });
    const { calls: run, finish } = await loop.appendReply(shape.stream(whole));
    expect(finish).toBe('tool-calls');
    expect(run.map(({ id, input }) => [id, input])).toEqual([
      ['call_1', { path: 'a.ts' }],
      ['call_2', { path: 'b.ts' }],
    ]);
    loop.append(
      results([
        ['call_1', 'a'],
        ['call_2', 'b'],
      ]),
    );
    expect(shape.validate(JSON.parse(JSON.stringify(loop.request)))).toEqual([]);
    if (shape.name === 'anthropic')
      for (const seal of ['c2lnbmF0dXJl', 'b3BhcXVl']) expect(occurrences(loop.request, seal)).toBe(1);
  });

  it('B184: an aborted reply adds nothing, and its late events change nothing', async () => {
    const { options } = smallOptions(shape);
    const loop = new AutoCompactingLoop(shape.request([user('Read both files, please.')]), { ...options, when: 'never' });
    const before = JSON.stringify(loop.request);
    for (let length = 0; length < whole.length; length++) {
      const abort = new AbortController();
      let seen = 0;
      const events = whole.map((event) => ({ ...event }));
      async function* interrupted(): AsyncGenerator<object> {
        for (const event of events) {
          if (seen++ === length) abort.abort('stop');
          yield event;
        }
      }
      await expect(loop.appendReply(interrupted() as ReturnType<typeof shape.stream>, { signal: abort.signal })).rejects.toBe(
        'stop',
      );
      expect(JSON.stringify(loop.request)).toBe(before);
    }
  });

  it('B189: a call that was cut off is not said to have been cancelled by the user', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape);
    const items = [
      ...longItems(shape),
      assistant('Ok.'),
      user('Deploy.'),
      calls(['deploy']),
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
    const broken = {
      'openai-chat': [
        { role: 'assistant', content: null },
        { role: 'assistant', content: '' },
      ],
      anthropic: [
        { role: 'assistant', content: [] },
        { role: 'assistant', content: [block({ type: 'text', text: '\n' })] },
      ],
    }[shape.name];
    for (const tail of [...(broken ?? []), calls(['never_answered'])]) {
      const { options } = smallOptions(shape);
      const model = reportModel(shape);
      // The shape's own item type is the adapter's, whose fields are all that is used here.
      const items = [...longItems(shape), tail as ReturnType<typeof user>];
      const create = withAutoCompaction(model.send, options);
      const { notices } = await create.compactor.compact(shape.request(items));
      expect(notices.map(({ code }) => code)).toContain('repaired');
      await create(shape.request([...items, user('Are you there?')]));
      expect(model.turns).toHaveLength(1);
    }
  });
});

it('B186: thinking that was signed in part, or not at all, is in no request', async () => {
  for (const signature of ['', null, undefined]) {
    const { options } = smallOptions(anthropicShape);
    const model = reportModel(anthropicShape);
    const unsigned = {
      role: 'assistant',
      content: [block({ type: 'thinking', thinking: 'half a tho', signature }), block({ type: 'text', text: 'So.' })],
    };
    const items = [anthropicShape.user('Think.'), unsigned, ...longItems(anthropicShape)];
    const create = withAutoCompaction(model.send, options);
    await create(anthropicShape.request(items));
    expect(occurrences(model.summaries[0]!.request, 'half a tho')).toBe(0);
    await create(anthropicShape.request([...items, unsigned, anthropicShape.user('Go on.')]));
    expect(occurrences(model.turns[1]!.request, 'half a tho')).toBe(0);
    expect(occurrences(model.turns[1]!.request, 'So.')).toBe(1);
  }
});

it('B188: a stream that just ends is no finished reply, even after whole blocks', async () => {
  const events = [...(recordedStreams.anthropic ?? []).slice(0, 13)];
  expect(events.at(-1)).toMatchObject({ type: 'content_block_stop', index: 2 });
  const { options, events: heard } = smallOptions(anthropicShape);
  const loop = new AutoCompactingLoop(anthropicShape.request([anthropicShape.user('Go.')]), { ...options, when: 'never' });
  const { finish, text } = await loop.appendReply(anthropicShape.stream(events));
  expect([finish, text]).toEqual(['incomplete', 'I will look at both 📦 files.']);
  expect(told(heard)).toEqual([]);
  // As a summary it is worth nothing.
  const model = reportModel(anthropicShape, [() => anthropicShape.stream(events)]);
  const create = withAutoCompaction(model.send, { ...options });
  await create(anthropicShape.request(longItems(anthropicShape)));
  expect(told(heard)).toEqual(['started', 'failed incomplete-reply']);
});
