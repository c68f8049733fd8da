import { expect, it } from 'vitest';
import { createCompactor } from '../../src/compactor.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { reportModel, smallOptions, told } from '../support/report-model.ts';
import { onBothShapes } from '../support/report-shapes.ts';

onBothShapes((shape) => {
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
