import { expect, it } from 'vitest';
import { createCompactor } from '../../src/compactor.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import type { Part } from '../../src/message.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { emptyAnswers, emptyCompactions, imagePart } from '../support/report-items.ts';
import { goodSummary, longItems, occurrences, reportModel, smallOptions, transcript } from '../support/report-model.ts';
import { anthropicResult, anthropicShape, block, onAllShapes, type ReportShape, systemText } from '../support/report-shapes.ts';

// The property, legal output of whatever history and cut, is tested in pair.test.ts: every request there passes the validators.

/** What is sent once everything was compacted. */
async function compactAll<Request extends object, Item extends object, Reply>(
  shape: ReportShape<Request, Item, Reply>,
  byHand: boolean,
): Promise<Request> {
  const { options } = smallOptions(shape);
  const model = reportModel(shape);
  const loop = new AutoCompactingLoop(shape.request(longItems(shape)), { ...options, send: model.send });
  if (byHand) await loop.compact();
  await loop.send();
  return model.turns[0]!.request;
}

function partsIn<Request extends object, Item extends object, Reply>(
  { adapter }: ReportShape<Request, Item, Reply>,
  request: Request,
): Part[] {
  return adapter
    .items(request)
    .flatMap((item) => adapter.readItem(item))
    .flatMap(({ parts }) => parts);
}

onAllShapes((shape) => {
  const { user, calls, results, assistant, adapter } = shape;

  it('B030, B031: where everything was compacted, a message of the user carries the summary, beside the system text', async () => {
    for (const byHand of [false, true]) {
      const sent = await compactAll(shape, byHand);
      expect(transcript(shape, sent)).toEqual([expect.stringMatching(/^user: .*Ship it/)]);
      expect(occurrences(adapter.items(sent), goodSummary)).toBe(1);
      expect(occurrences(sent, systemText)).toBe(1);
      expect(occurrences(transcript(shape, sent), systemText)).toBe(0);
    }
  });

  it('B033: a compaction in the middle of a tool loop ends in a turn that a model may answer', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, options);
    const items = longItems(shape); // the last messages are results of tools
    await create(shape.request([...items]));
    items.push(...calls(['next']), ...results([['next', 'found']]));
    await create(shape.request([...items]));
    expect(transcript(shape, model.turns[0]!.request).at(-1)).toMatch(/^user: /);
    expect(transcript(shape, model.turns[1]!.request).at(-1)).toMatch(/^tool: .*found/);
    expect(model.summaries).toHaveLength(1);
    expect(transcript(shape, model.summaries[0]!.request).at(-1)).toMatch(/^user: /);
  });

  it('B035: the request begins with a user message that leads with no result, wherever the kept part begins', async () => {
    const steps = [
      longItems(shape),
      [assistant('Ok.')],
      [user('More.')],
      calls(['last']),
      results([['last', 'x']]),
      [assistant('Done.')],
      [user('End.')],
    ];
    for (let cut = 1; cut < steps.length; cut++) {
      const { options } = smallOptions(shape);
      const compactor = createCompactor({ ...options, send: reportModel(shape).send, when: 'never' });
      await compactor.compact(shape.request(steps.slice(0, cut).flat()), { conversation: 'a' });
      const sent = await compactor.prepare(shape.request(steps.flat()), { conversation: 'a' });
      expect(transcript(shape, sent)[0]).toMatch(/^user: (?!.*toolResult)/);
      expect(shape.validate(sent)).toEqual([]);
    }
  });

  it('B037: a call is never the first thing of a conversation, also where the kept part begins with one', async () => {
    const { options } = smallOptions(shape);
    const compactor = createCompactor({ ...options, send: reportModel(shape).send, when: 'never' });
    const covered = [...longItems(shape), assistant('Ok.'), user('More.')];
    await compactor.compact(shape.request(covered), { conversation: 'a' });
    const sent = await compactor.prepare(shape.request([...covered, ...calls(['first']), ...results([['first', 'x']])]), {
      conversation: 'a',
    });
    expect(transcript(shape, sent)[0]).toMatch(/^user: /);
    expect(transcript(shape, sent)[1]).toMatch(/^assistant: .*toolCall/);
    expect(shape.validate(sent)).toEqual([]);
    // A host that threw its beginning away.
    const beheaded = [...calls(['first']), ...results([['first', 'x'.repeat(4000)]]), assistant('Done.'), user('On.')];
    const model = reportModel(shape);
    await withAutoCompaction(model.send, options)(shape.request(beheaded));
    expect(transcript(shape, model.turns[0]!.request)).toHaveLength(1);
    if (adapter.startsWithUser) expect(transcript(shape, model.summaries[0]!.request)[0]).toMatch(/^user: /);
  });

  const empties = emptyCompactions(shape);

  if (empties.length > 0)
    it('B038: an empty compaction of the provider is in no request, and covers nothing', async () => {
      for (const { mixed, alone } of empties) {
        const { options } = smallOptions(shape);
        const model = reportModel(shape);
        const loop = new AutoCompactingLoop(shape.request([user('The port is 8080.')]), { ...options, send: model.send });
        expect((await loop.appendReply(mixed)).text).toBe('Noted.');
        await loop.appendReply(alone);
        loop.append([user('Which port?')]);
        await loop.send();
        const sent = model.turns[0]!.request;
        expect(occurrences(adapter.items(sent), 'compaction')).toBe(0);
        const expected = shape.request([user('The port is 8080.'), assistant('Noted.'), user('Which port?')]);
        expect(transcript(shape, sent)).toEqual(transcript(shape, expected));
        // Stored by a host that did not look, it is in no request that is rebuilt.
        const { items } = await adapter.readReply(mixed);
        const stored = [user('The port is 8080.'), ...items, ...longItems(shape), assistant('Ok.'), user('Go on.')];
        await withAutoCompaction(model.send, options)(shape.request(stored));
        expect(occurrences(adapter.items(model.summaries[0]!.request), 'compaction')).toBe(1); // the word in the instruction
      }
    });

  it('B039: empty messages of the assistant are in no request that is rebuilt', async () => {
    for (const nothing of emptyAnswers(shape)) {
      const { options } = smallOptions(shape);
      const model = reportModel(shape);
      const items = [user('Begin.'), nothing, ...longItems(shape), assistant('Ok.'), nothing, user('Go on.')];
      const create = withAutoCompaction(model.send, options);
      await create(shape.request([...items]));
      items.push(nothing, user('Still there?'), nothing, user('Hello?'));
      await create(shape.request([...items]));
      expect(model.summaries).toHaveLength(1);
      const sent = model.turns[1]!.request;
      expect(transcript(shape, sent).filter((message) => message.startsWith('assistant'))).toEqual([]);
      const texts = partsIn(shape, sent).flatMap((part) => (part.type === 'text' ? [part.text] : []));
      expect(texts.slice(-2)).toEqual(['Still there?', 'Hello?']);
    }
  });

  it('B041: an image that came between two results is behind them, and is kept', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, { ...options, when: 'never' });
    const covered = [...longItems(shape), assistant('Ok.'), user('More.')];
    await create.compactor.compact(shape.request(covered));
    const image = adapter.writeMessage({ role: 'user', parts: [imagePart(shape.name, 'AAAA')] });
    const mixed = [...calls(['c1', 'c2']), ...results([['c1', 'one']]), ...image, ...results([['c2', 'two']])];
    await create(shape.request([...covered, ...mixed, user('See the image.')]));
    const types = partsIn(shape, model.turns[0]!.request).map(({ type }) => type);
    const behind = types.slice(types.indexOf('toolCall'));
    const expected = ['toolCall', 'toolCall', 'toolResult', 'toolResult', 'media', 'text'];
    // Where a result may stand anywhere behind its call, nothing has to move.
    if (/^openai-(responses|codex)$/.test(shape.name)) expect(behind.sort()).toEqual(expected.sort());
    else expect(behind).toEqual(expected);
  });
});

it('B041: results stay in front of images and of text that come with them, in a request that is rebuilt', async () => {
  const { user, assistant, calls } = anthropicShape;
  const image = block({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } });
  const mixed = {
    role: 'user',
    content: [anthropicResult('c1', 'one'), image, anthropicResult('c2', 'two'), block({ type: 'text', text: 'See the image.' })],
  };
  const { options } = smallOptions(anthropicShape);
  const model = reportModel(anthropicShape);
  const create = withAutoCompaction(model.send, { ...options, when: 'never' });
  const covered = [...longItems(anthropicShape), assistant('Ok.'), user('More.')];
  await create.compactor.compact(anthropicShape.request(covered));
  await create(anthropicShape.request([...covered, ...calls(['c1', 'c2']), mixed, user('And?')]));
  const types = model.turns[0]!.request.messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.map(({ type }) => type) : [],
  );
  expect(types.slice(types.indexOf('tool_use'))).toEqual([
    'tool_use',
    'tool_use',
    'tool_result',
    'tool_result',
    'image',
    'text',
    'text',
  ]);
});
