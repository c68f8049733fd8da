import { expect, it } from 'vitest';
import { createCompactor } from '../../src/compactor.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { goodSummary, longItems, occurrences, reportModel, smallOptions, transcript } from '../support/report-model.ts';
import {
  anthropicResult,
  anthropicShape,
  block,
  chatShape,
  onBothShapes,
  type ReportShape,
  systemText,
} from '../support/report-shapes.ts';

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

it('B030: where everything was compacted, a user message carries the summary, beside the system text of its own field', async () => {
  for (const byHand of [false, true]) {
    const sent = await compactAll(anthropicShape, byHand);
    expect(sent.messages.map(({ role }) => role)).toEqual(['user']);
    expect(occurrences(sent.messages, goodSummary)).toBe(1);
    expect(sent.system).toBe(systemText);
  }
});

it('B031: where everything was compacted, a user message carries the summary, not the assistant', async () => {
  for (const byHand of [false, true]) {
    const sent = await compactAll(chatShape, byHand);
    expect(sent.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(occurrences(sent.messages[1], goodSummary)).toBe(1);
  }
});

onBothShapes((shape) => {
  const { user, calls, results, assistant } = shape;
  const rolesOf = (request: Parameters<typeof shape.adapter.items>[0]): unknown[] =>
    shape.adapter.items(request).map((item) => Reflect.get(item, 'role'));

  it('B033: a compaction in the middle of a tool loop ends in a turn that a model may answer', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, options);
    const items = longItems(shape); // the last messages are results of tools
    await create(shape.request([...items]));
    items.push(calls(['next']), ...results([['next', 'found']]));
    await create(shape.request([...items]));
    expect(rolesOf(model.turns[0]!.request).at(-1)).toBe('user');
    expect(rolesOf(model.turns[1]!.request).at(-1)).toBe(shape.name === 'anthropic' ? 'user' : 'tool');
    expect(model.summaries).toHaveLength(1);
    expect(rolesOf(model.summaries[0]!.request).at(-1)).toBe('user');
  });

  it('B035: the request begins with a user message that leads with no result, wherever the kept part begins', async () => {
    const items = [
      ...longItems(shape),
      assistant('Ok.'),
      user('More.'),
      calls(['last']),
      ...results([['last', 'x']]),
      assistant('Done.'),
      user('End.'),
    ];
    for (let cut = 3; cut < items.length; cut++) {
      const { options } = smallOptions(shape);
      const compactor = createCompactor({ ...options, send: reportModel(shape).send, when: 'never' });
      await compactor.compact(shape.request(items.slice(0, cut)), { conversation: 'a' });
      const sent = await compactor.prepare(shape.request(items), { conversation: 'a' });
      expect(rolesOf(sent).find((role) => role !== 'system')).toBe('user');
      expect(transcript(shape, sent)[0]).toMatch(/^user: /);
      expect(shape.validate(JSON.parse(JSON.stringify(sent)))).toEqual([]);
    }
  });

  it('a call is never the first thing of a conversation, also where the kept part begins with one', async () => {
    const { options } = smallOptions(shape);
    const compactor = createCompactor({ ...options, send: reportModel(shape).send, when: 'never' });
    const covered = [...longItems(shape), assistant('Ok.'), user('More.')];
    await compactor.compact(shape.request(covered), { conversation: 'a' });
    const sent = await compactor.prepare(shape.request([...covered, calls(['first']), ...results([['first', 'x']])]), {
      conversation: 'a',
    });
    expect(transcript(shape, sent)[0]).toMatch(/^user: /);
    expect(transcript(shape, sent)[1]).toMatch(/^assistant: .*toolCall/);
  });

  it('B039: empty messages of the assistant are in no request that is rebuilt', async () => {
    const empty = {
      'openai-chat': [' \n', '', null, []].map((content) => ({ role: 'assistant', content })),
      anthropic: [' \n', '', [], [block({ type: 'text', text: '\n' })]].map((content) => ({ role: 'assistant', content })),
    }[shape.name];
    for (const nothing of empty ?? []) {
      const { options } = smallOptions(shape);
      const model = reportModel(shape);
      // The shape's own item type is the adapter's, whose fields are all that is used here.
      const item = nothing as ReturnType<typeof user>;
      const items = [user('Begin.'), item, ...longItems(shape), assistant('Ok.'), item, user('Go on.')];
      const create = withAutoCompaction(model.send, options);
      await create(shape.request([...items]));
      items.push(item, user('Still there?'), item, user('Hello?'));
      await create(shape.request([...items]));
      expect(model.summaries).toHaveLength(1);
      expect(rolesOf(model.turns[1]!.request).filter((role) => role === 'assistant')).toEqual([]);
      expect(transcript(shape, model.turns[1]!.request).slice(1)).toEqual(
        transcript(shape, shape.request([user('Still there?'), user('Hello?')])),
      );
    }
  });
});

it('B038: an empty compaction block of the provider is in no request, and covers nothing', async () => {
  const { user } = anthropicShape;
  for (const content of [null, '', undefined]) {
    const { options } = smallOptions(anthropicShape);
    const model = reportModel(anthropicShape);
    const loop = new AutoCompactingLoop(anthropicShape.request([user('The port is 8080.')]), { ...options, send: model.send });
    await loop.appendReply({
      content: [block({ type: 'compaction', content }), block({ type: 'text', text: 'Noted.' })],
      stop_reason: 'end_turn',
    });
    await loop.appendReply({ content: [block({ type: 'compaction', content })], stop_reason: 'compaction' });
    loop.append([user('Which port?')]);
    await loop.send();
    const [sent] = model.turns;
    expect(occurrences(sent!.request, 'compaction')).toBe(0);
    expect(transcript(anthropicShape, sent!.request)).toEqual(
      transcript(
        anthropicShape,
        anthropicShape.request([user('The port is 8080.'), anthropicShape.assistant('Noted.'), user('Which port?')]),
      ),
    );
  }
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
  await create(anthropicShape.request([...covered, calls(['c1', 'c2']), mixed, user('And?')]));
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
