import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/compactor.ts';
import { CompactionError } from '../../src/errors.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { memoryStore, type SessionStore } from '../../src/session.ts';
import type { ProviderKit } from '../../src/testing/provider-kit.ts';
import { providerKits } from '../../src/testing/provider-kits.ts';
import { reportModel, smallOptions, told } from '../support/report-model.ts';
import { onAllShapes } from '../support/report-shapes.ts';
import { openRun, type RunOptions, saidIn } from '../support/session-run.ts';

onAllShapes((shape) => {
  const { user, results } = shape;

  it('B124: right after a compaction in the middle of a run nothing is measured by the usage before it', async () => {
    const { options, events } = smallOptions(shape);
    let inputTokens = 4000;
    const model = reportModel(shape, [], () => shape.reply({ calls: ['next'], inputTokens }));
    const loop = new AutoCompactingLoop(shape.request([user('Begin.')]), { ...options, send: model.send });
    await loop.appendReply(await loop.send());
    expect(loop.estimate()).toMatchObject({ sources: { tokens: 'usage' } });
    loop.append(results([['next', 'a'.repeat(2000)]]));
    expect(loop.estimate().tokens).toBeGreaterThan(4400);
    const prepared = await loop.prepare();
    expect(told(events)).toEqual(['started', 'applied']);
    const after = loop.estimate();
    expect(after.sources.tokens).toBe('estimate');
    expect(after.tokens).toBeLessThan(300);
    // Neither by another meter over the same conversation, nor after a restart.
    expect(createCompactor({ ...options, send: model.send }).estimate(prepared).tokens).toBe(after.tokens);
    const restored = new AutoCompactingLoop(loop.request, { ...options, send: model.send }, { snapshot: loop.snapshot() });
    expect(restored.estimate()).toEqual(after);

    inputTokens = 250;
    await loop.appendReply(await loop.send());
    expect(loop.estimate().tokens).toBeLessThan(400);
    loop.append(results([['next', 'b'.repeat(200)]]));
    await loop.prepare();
    expect(told(events)).toEqual(['started', 'applied']);
  });
});

for (const each of Object.values(providerKits)) {
  // Each kit is sound in itself; a list of them has no common type.
  const kit = each as ProviderKit<object, object, unknown>;
  const log = (page: number): string => `Page ${page}. ${'line of a log, '.repeat(150)}`;
  const call = (page: number) => [{ id: `call_${page}`, name: 'read', input: { path: `${page}.ts` } }];

  /** A run whose next request is due for compaction. */
  const dueRun = async (options: Partial<RunOptions> = {}) => {
    const run = await openRun(kit, { store: memoryStore(), ...options });
    await run.say('What does the log say?');
    for (const page of [1, 2]) await run.step({ reply: { calls: call(page) }, results: [page === 1 ? 'ok' : log(page)] });
    return run;
  };

  // The property of this kind is in test/session/resume.property.test.ts.
  describe(`${kit.name}, in a session`, () => {
    it('B121: a restart after a compaction gives the summary and nothing that it replaced', async () => {
      const run = await dueRun();
      await run.step({ reply: { text: 'Nothing.' } });
      expect(told(run.events)).toEqual(['started', 'applied']);
      const other = await run.reopen();
      expect(saidIn(kit, other.loop.request)).toEqual(saidIn(kit, run.loop.request));
      expect(other.loop.estimate()).toEqual(run.loop.estimate());
      expect(JSON.stringify(other.loop.request)).not.toContain('Page 2.');
      expect(JSON.stringify(other.session.transcript)).toContain('Page 2.');
    });

    it('B123: the summary has one role, warm and cold, and is stored once', async () => {
      const run = await dueRun();
      await run.step({ reply: { text: 'Nothing.' } });
      await run.say('And now?');
      await run.step({ reply: { text: 'Still nothing.' } });
      const cold = await run.reopen();
      const [warm, read] = [saidIn(kit, run.loop.request), saidIn(kit, cold.loop.request)];
      expect(read).toEqual(warm);
      expect(read[0]?.role).toBe('user');
      await cold.say('Go on.');
      await cold.step({ reply: { text: 'Done.' } });
      const kinds = cold.session.events.map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'compaction_applied')).toHaveLength(1);
    });

    it('B124: a restart in the middle of a run measures nothing by the usage before the compaction', async () => {
      const run = await dueRun();
      await run.loop.prepare();
      expect(told(run.events)).toEqual(['started', 'applied']);
      const cold = await run.reopen();
      expect(cold.loop.estimate()).toEqual(run.loop.estimate());
      expect(cold.loop.estimate().sources.tokens).toBe('estimate');
      await cold.loop.prepare();
      expect(told(cold.events)).toEqual([]);
    });

    it('B099: a store that fails while it takes the replacement loses nothing, and neither does the loop', async () => {
      const store = memoryStore();
      const failing: SessionStore = {
        ...store,
        append: async (id, event) => {
          if (event.kind === 'compaction_applied') throw new CompactionError('store-failed', 'Disk full.');
          await store.append(id, event);
        },
      };
      const run = await dueRun({ store: failing });
      const before = [saidIn(kit, run.loop.request), run.session.messages];
      await run.step({ reply: { text: 'Nothing.' } });
      expect(told(run.events)).toContain('failed commit-failed');
      const cold = await openRun(kit, { store });
      for (const [index, messages] of [saidIn(kit, cold.loop.request), cold.session.messages].entries())
        expect(messages.slice(0, -1)).toEqual(before[index]);
    });

    it('B190: a session that ends in the middle of a turn, or in one that only failed, goes on', async () => {
      const run = await dueRun();
      await run.session.appendTurn({ messages: [], error: 'The server is busy.' });
      const cold = await run.reopen();
      await cold.step({ reply: { text: 'Nothing.' } });
      expect(cold.sent.flatMap((request) => kit.validate(request))).toEqual([]);
      expect(cold.sent).toHaveLength(1);
    });
  });
}
