import { expect, it } from 'vitest';
import { contextBudget } from '../../src/budget/context-budget.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { countTokens, goodSummary, replacementsIn, reportModel, smallOptions, told } from '../support/report-model.ts';
import { onAllShapes } from '../support/report-shapes.ts';

// The property of the arithmetic is tested in test/budget/context-budget.test.ts.

it('B149: a window that nobody told does not switch compaction off', () => {
  expect(contextBudget({})).toMatchObject({ contextWindow: 200_000, sources: { contextWindow: 'default' } });
  expect(contextBudget({ contextWindow: 0 }).threshold).toBe(contextBudget({}).threshold);
});

it.each([undefined, 0, 1, 4096, 16_384, 32_000])(
  'B149: a window of 16,384 with an output cap of %s leaves a budget that an empty request is below',
  (outputCap) => {
    const { inputBudget, threshold } = contextBudget({ contextWindow: 16_384, ...(outputCap !== undefined && { outputCap }) });
    expect(inputBudget).toBeGreaterThan(0);
    expect(threshold).toBeGreaterThan(0);
    if (outputCap === undefined || outputCap <= 4096) expect(inputBudget).toBe(12_288);
  },
);

it('B151: nothing but the output that the request asks for is carved out of the window', () => {
  expect(contextBudget({ contextWindow: 200_000 }).threshold / 200_000).toBeCloseTo(0.855);
  expect(contextBudget({ contextWindow: 200_000, outputCap: 8192 }).threshold / 200_000).toBeCloseTo(0.855);
  // What is asked for is what the provider would refuse beside a longer input.
  expect(contextBudget({ contextWindow: 200_000, outputCap: 128_000 }).inputBudget).toBe(72_000);
  // Whoever knows better says so.
  expect(contextBudget({ contextWindow: 200_000, outputCap: 128_000, threshold: 170_000 }).threshold).toBe(170_000);
});

onAllShapes((shape) => {
  const { user, calls, results, assistant } = shape;

  it('B150: where the fixed parts alone exceed the window, no summary is asked for, and it is said once', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, { ...options, contextWindow: 2048, budget: { countTokens } });
    const items = [user('Begin.')];
    for (let turn = 0; turn < 5; turn++) {
      items.push(...calls([`c${turn}`]), ...results([[`c${turn}`, 'a'.repeat(100)]]));
      await create(shape.request([...items], { system: 'b'.repeat(12_000) }));
    }
    expect(model.summaries).toEqual([]);
    expect(told(events)).toEqual(['notice irreducible']);
    expect(model.turns).toHaveLength(5);
    const { gate } = await create.compactor.plan(shape.request(items, { system: 'b'.repeat(12_000) }));
    expect(gate).toBe('irreducible');
  });

  it('B156: a window that is smaller than it was said to be is learned from the refusal: compacted once, sent once more', async () => {
    const { options, events } = smallOptions(shape);
    const tokensOf = (request: object): number => countTokens(JSON.stringify(request));
    const refusal = Object.assign(new Error('prompt is too long'), { status: 400 });
    const model = reportModel(shape, [], (request) => {
      if (tokensOf(request) > 40_000) throw refusal;
      return shape.reply({ text: 'Ok.' });
    });
    const create = withAutoCompaction(model.send, {
      ...options,
      contextWindow: 1_000_000,
      budget: { countTokens },
      recoverOverflow: true,
    });
    const items = [user('Begin.'), assistant('c'.repeat(100_000)), user('More.'), assistant('d'.repeat(100_000)), user('Now.')];
    expect(create.compactor.estimate(shape.request(items)).contextWindow).toBe(1_000_000);
    await create(shape.request(items));
    expect(told(events).filter((name) => !name.startsWith('notice'))).toEqual(['started', 'applied']);
    expect(told(events)).toContain('notice overflow-recovered');
    expect(model.turns).toHaveLength(2);
    expect(replacementsIn(shape, model.turns[1]!.request)).toEqual([{ summary: goodSummary, lastUser: 'Now.' }]);
    // The next one is compacted before it is refused.
    const { contextWindow, sources } = create.compactor.estimate(shape.request(items));
    expect(contextWindow).toBeLessThan(60_000);
    expect(sources.contextWindow).toBe('usage');
    const more = [...items, assistant('e'.repeat(180_000)), user('And now.')];
    await create(shape.request(more));
    expect(told(events).filter((name) => name === 'applied')).toHaveLength(2);
    expect(model.turns).toHaveLength(3);
  });

  it('B157: the first request to a model with a smaller window is compacted before it is sent', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape, [], () => shape.reply({ text: 'Ok.', inputTokens: 150_000 }));
    const items = [user('Begin.'), assistant('c'.repeat(600_000)), user('More.')];
    const large = withAutoCompaction(model.send, { ...options, contextWindow: 1_000_000, budget: { countTokens } });
    await large(shape.request(items, { model: 'large' }));
    expect(events).toEqual([]);
    const small = withAutoCompaction(model.send, {
      ...options,
      contextWindow: 128_000,
      budget: { countTokens },
      summary: { summarizer: async () => ({ text: goodSummary }) },
    });
    await small(shape.request(items, { model: 'small' }));
    expect(told(events)).toEqual(['started', 'applied']);
    expect(model.turns).toHaveLength(2);
    expect(replacementsIn(shape, model.turns[1]!.request)).toEqual([{ summary: goodSummary, lastUser: 'More.' }]);
  });
});
