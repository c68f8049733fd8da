import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createCompactor } from '../../src/compactor.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { freezeDeep } from '../support/freeze.ts';
import { validHistory, writeEvents } from '../support/report-histories.ts';
import { countTokens, longItems, reportModel, smallBudget, smallOptions, told } from '../support/report-model.ts';
import { onAllShapes, type ReportShape, withoutConversation } from '../support/report-shapes.ts';

/** The conversation as it is sent, one text for each message. */
function bytesOf<Request extends object, Item extends object, Reply>(
  { adapter }: ReportShape<Request, Item, Reply>,
  request: Request,
): string[] {
  return adapter.items(request).map((item) => JSON.stringify(item));
}

onAllShapes((shape) => {
  const { user, calls, results, assistant, adapter } = shape;

  it('the property: requests only grow at their end, but for one change with each compaction, and come out the same on every run', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(validHistory, { minLength: 1, maxLength: 6 }), async (histories) => {
        const run = async (restart: boolean): Promise<{ requests: string[][]; breaks: number; compactions: number }> => {
          const { options, events } = smallOptions(shape);
          const model = reportModel(shape);
          let compactor = createCompactor({ ...options, send: model.send });
          const items: ReturnType<typeof user>[] = [];
          const requests: string[][] = [];
          let breaks = 0;
          for (const events of histories)
            for (const event of events) {
              items.push(...writeEvents(shape, [event]));
              if (event.kind === 'assistant' || event.kind === 'calls') continue;
              const request = shape.request([...items]);
              if (shape.validate(request).length > 0) continue; // results are still missing
              const bytes = bytesOf(shape, await compactor.prepare(request, { conversation: 'a' }));
              const before = requests.at(-1) ?? [];
              if (JSON.stringify(bytes.slice(0, before.length)) !== JSON.stringify(before)) breaks++;
              requests.push(bytes);
              if (!restart) continue;
              const snapshot = JSON.parse(JSON.stringify(compactor.snapshot(request, { conversation: 'a' })));
              compactor = createCompactor({ ...options, send: model.send });
              compactor.restore(snapshot);
            }
          return { requests, breaks, compactions: told(events).filter((end) => end === 'applied').length };
        };
        const first = await run(false);
        expect(first.breaks).toBe(first.compactions);
        expect((await run(false)).requests).toEqual(first.requests);
        expect((await run(true)).requests).toEqual(first.requests); // another process, the same bytes
      }),
      { numRuns: 15 },
    );
  });

  it('the property: a summary request begins with the whole request that it summarizes', async () => {
    await fc.assert(
      fc.asyncProperty(validHistory, fc.boolean(), async (events, byHand) => {
        const { options, events: heard } = smallOptions(shape);
        const model = reportModel(shape);
        const compactor = createCompactor({
          ...options,
          budget: { threshold: 1, countTokens },
          contextWindow: 100_000,
          send: model.send,
        });
        const items = [
          user('a'.repeat(2000)),
          assistant('Noted.'),
          ...writeEvents(shape, events),
          assistant('Ok.'),
          user('Go on.'),
        ];
        const request = freezeDeep(shape.request(items));
        fc.pre(shape.validate(request).length === 0); // a broken parent is repaired
        if (byHand) await compactor.compact(request);
        else await compactor.prepare(request);
        const asked = model.summaries[0]!.request;
        const parent = adapter.items(request);
        const fork = adapter.items(asked);
        // Where turns alternate, the instruction joins the last message of the user.
        const kept = fork.length > parent.length ? parent.length : parent.length - 1;
        expect(fork).toHaveLength(kept + 1);
        for (const [index, item] of parent.slice(0, kept).entries()) expect(fork[index]).toBe(item); // the very same objects
        for (const field of ['system', 'tools', 'model'] as const)
          expect(adapter.context(asked)[field]).toEqual(adapter.context(request)[field]);
        if (!byHand) expect(heard.at(-2)).toMatchObject({ type: 'auto_compaction_applied', prefix: 'kept', because: [] });
      }),
      { numRuns: 60 },
    );
  });

  it('B179: nothing is edited in place: without a compaction a request goes out as the very same object', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, { ...options, budget: { countTokens } });
    const items: ReturnType<typeof user>[] = [user('Begin.')];
    for (let turn = 0; turn < 12; turn++) {
      items.push(...calls([`c${turn}`]), ...results([[`c${turn}`, 'b'.repeat(1500)]]));
      const request = freezeDeep(shape.request([...items]));
      await create(request);
      expect(model.turns[turn]!.request).toBe(request);
    }
    expect(model.summaries).toEqual([]);
  });

  it('B179: after a compaction nothing of the prefix changes until the next', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, { ...options, budget: { countTokens } });
    const items: ReturnType<typeof user>[] = [user('Begin.')];
    let breaks = 0;
    for (let turn = 0; turn < 60; turn++) {
      items.push(...calls([`c${turn}`]), ...results([[`c${turn}`, 'c'.repeat(1500)]]));
      await create(shape.request([...items]));
      const [before, now] = [model.turns.at(-2), model.turns.at(-1)].map((sent) => (sent ? bytesOf(shape, sent.request) : []));
      if (JSON.stringify(now!.slice(0, before!.length)) !== JSON.stringify(before)) breaks++;
    }
    expect(breaks).toBe(model.summaries.length);
    expect(breaks).toBeGreaterThan(1);
  });

  it('B180: the tools of a summary request are those of its parent, byte for byte', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape, [() => shape.reply({ calls: ['denied'] })]);
    const request = shape.request(longItems(shape));
    await withAutoCompaction(model.send, options)(request);
    expect(model.summaries).toHaveLength(2);
    for (const { request: asked } of model.summaries) {
      for (const field of ['system', 'tools'] as const)
        expect(JSON.stringify(adapter.context(asked)[field])).toBe(JSON.stringify(adapter.context(request)[field]));
    }
    expect(withoutConversation(model.turns[0]!.request)).toEqual(withoutConversation(request));
  });

  it('B182: a quarter of the budget is no reason to change anything', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, { ...options, budget: { countTokens } });
    const quarter = smallBudget.contextWindow; // as characters, which are a quarter of a token each
    const request = shape.request([
      user('Begin.'),
      ...Array.from({ length: 5 }, (_, turn) => [
        ...calls([`c${turn}`]),
        ...results([[`c${turn}`, 'd'.repeat(quarter / 6)]]),
      ]).flat(),
    ]);
    await create(request);
    expect(create.compactor.estimate(request).fraction).toBeGreaterThan(0.2);
    expect(model.turns[0]!.request).toBe(request);
    expect(events).toEqual([]);
  });
});
