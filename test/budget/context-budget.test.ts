import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextBudget } from '../../src/budget/context-budget.ts';
import { isCompactionError } from '../../src/errors.ts';

describe('input budget and threshold', () => {
  it.each([
    // window, input budget, threshold: K10
    [0, 190_000, 171_000],
    [4096, 1, 1],
    [4097, 1, 1],
    [8192, 4096, 3687],
    [32_768, 28_672, 25_805],
    [81_920, 77_824, 70_042],
    [100_000, 95_000, 85_500],
    [128_000, 121_600, 109_440],
    [200_000, 190_000, 171_000],
    [1_000_000, 950_000, 855_000],
  ])('a window of %i gives %i and %i', (contextWindow, inputBudget, threshold) => {
    expect(contextBudget({ contextWindow })).toMatchObject({ inputBudget, threshold });
  });

  it('an absent or zero window is 200,000 by default, and says so', () => {
    for (const options of [undefined, {}, { contextWindow: 0 }])
      expect(contextBudget(options)).toMatchObject({ contextWindow: 200_000, sources: { contextWindow: 'default' } });
    expect(contextBudget({ contextWindow: 9000 }).sources.contextWindow).toBe('configured');
  });

  it('cuts fractions of tokens', () => {
    expect(contextBudget({ contextWindow: 100_000.9 })).toEqual(contextBudget({ contextWindow: 100_000 }));
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'refuses a window of %d by name and value',
    (contextWindow) => {
      try {
        contextBudget({ contextWindow });
        expect.unreachable();
      } catch (error) {
        expect(isCompactionError(error) && error.code).toBe('invalid-options');
        expect(String(error)).toContain('`contextWindow`');
        expect(String(error)).toContain(String(contextWindow));
      }
    },
  );

  it('makes room for the output cap where it is larger than the margin', () => {
    expect(contextBudget({ contextWindow: 200_000, outputCap: 8000 }).inputBudget).toBe(190_000);
    expect(contextBudget({ contextWindow: 200_000, outputCap: 64_000 })).toMatchObject({
      inputBudget: 136_000,
      threshold: 122_400,
    });
  });

  it.each([
    // known window, ceiling, effective window: with neither known, the default
    [500_000, 160_000, 160_000],
    [100_000, 160_000, 100_000],
    [500_000, 0, 500_000],
    [0, 160_000, 160_000],
    [0, 0, 200_000],
  ])('V13: a window of %i under a ceiling of %i counts as %i', (contextWindow, ceiling, effective) => {
    const { inputBudget, threshold } = contextBudget({ contextWindow: effective });
    expect(contextBudget({ contextWindow, ceiling })).toMatchObject({ inputBudget, threshold });
  });

  it.each([
    // explicit threshold, window, ceiling, threshold
    [42, 200_000, 0, 42],
    [300_000, 200_000, 0, 200_000],
    [0, 200_000, 0, 171_000],
    [undefined, 200_000, 0, 171_000],
    [undefined, 0, 0, 171_000],
    // Nine tenths of the input budget, not of the window.
    [undefined, 500_000, 160_000, 136_800],
    [undefined, 100_000, 0, 85_500],
    [155_000, 500_000, 160_000, 155_000],
    [300_000, 150_000, 160_000, 150_000],
  ])(
    'V16: an explicit threshold of %s in a window of %i under a ceiling of %i is %i',
    (threshold, contextWindow, ceiling, expected) => {
      expect(contextBudget({ contextWindow, ceiling, threshold }).threshold).toBe(expected);
    },
  );

  it.each([
    // hard, soft
    [1, 1],
    [9, 9],
    [10, 9],
    [85_500, 76_950],
    [171_000, 153_900],
  ])('V17: with a threshold of %i the soft one is %i', (threshold, soft) => {
    expect(contextBudget({ contextWindow: 200_000, threshold }).softThreshold).toBe(soft);
  });

  it('takes a margin and a ratio from the caller', () => {
    expect(contextBudget({ contextWindow: 1000, safetyMargin: 100, thresholdRatio: 0.5 })).toMatchObject({
      inputBudget: 900,
      threshold: 450,
    });
    expect(contextBudget({ contextWindow: 1000, safetyMargin: 0 }).inputBudget).toBe(1000);
    expect(contextBudget({ contextWindow: 1000, safetyMargin: 100, thresholdRatio: 1 }).threshold).toBe(900);
    for (const thresholdRatio of [0, -0.1, 1.1, Number.NaN])
      expect(() => contextBudget({ thresholdRatio })).toThrow('`thresholdRatio`');
  });

  it('B153: a large window keeps a large threshold; B154: a ceiling caps it', () => {
    expect(contextBudget({ contextWindow: 1_000_000 }).threshold).toBeGreaterThan(800_000);
    expect(contextBudget({ contextWindow: 1_000_000, ceiling: 150_000 }).threshold).toBeLessThanOrEqual(150_000);
  });

  it('B149: a small window without a known output cap stays usable', () => {
    expect(contextBudget({ contextWindow: 16_384 }).threshold).toBeGreaterThan(8192);
    expect(contextBudget({ contextWindow: 16_384, outputCap: 0 })).toEqual(contextBudget({ contextWindow: 16_384 }));
  });

  it('is finite and ordered for all windows, caps, margins and ratios', () => {
    const tokens = fc.oneof(fc.constantFrom(0, 1, 512, 2048, 8192, 16_384, 200_000, 1e6, 1e7), fc.nat(2_000_000));
    fc.assert(
      fc.property(
        tokens,
        tokens,
        fc.option(tokens, { nil: undefined }),
        fc.option(fc.double({ min: 1e-9, max: 1, noNaN: true }), { nil: undefined }),
        (contextWindow, outputCap, safetyMargin, thresholdRatio) => {
          const budget = contextBudget({ contextWindow, outputCap, safetyMargin, thresholdRatio });
          expect(budget.inputBudget).toBeGreaterThanOrEqual(1);
          expect(budget.threshold).toBeGreaterThanOrEqual(1);
          expect(budget.threshold).toBeLessThanOrEqual(budget.inputBudget);
          expect(budget.inputBudget).toBeLessThanOrEqual(Math.max(1, budget.contextWindow));
        },
      ),
    );
  });

  it('grows with the window', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000_000 }), fc.nat(100_000), (contextWindow, more) => {
        expect(contextBudget({ contextWindow: contextWindow + more }).threshold).toBeGreaterThanOrEqual(
          contextBudget({ contextWindow }).threshold,
        );
      }),
    );
  });

  it('names what is no group of options', () => {
    for (const options of [128_000, 'large', null])
      expect(() => contextBudget(options as never)).toThrow(
        `Expected options such as \`{ contextWindow: 128_000 }\`, got ${options}.`,
      );
    expect(() => contextBudget({ threshold: 0.8 })).toThrow('a part of the budget is `thresholdRatio`');
  });
});
