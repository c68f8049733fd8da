import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import { contextBudget } from '../../src/budget/context-budget.ts';
import { estimateBudget } from '../../src/budget/estimate.ts';
import { capThreshold, findRoute, type RoutePolicy } from '../../src/budget/route-policy.ts';
import { createCompactor } from '../../src/compactor.ts';
import { resolveOptions, withRoute } from '../../src/settings.ts';
import { createWrapper, lifecycleOf } from '../support/harness.ts';
import { countTokens, httpError, longConversation, throws } from '../support/scripted-model.ts';
import { chatView } from '../support/views.ts';

describe('V4: the policy of a route', () => {
  const routes: RoutePolicy[] = [
    { provider: 'openai', model: 'mini', thresholdRatio: 0.5 },
    { model: 'Claude', thresholdRatio: 0.6 },
    { provider: 'openai-chat', thresholdRatio: 0.7 },
    { thresholdRatio: 0.8 },
  ];

  it.each([
    ['openai-chat', 'gpt-5-mini', 0.5],
    ['openai-responses', 'GPT-5-Mini', 0.5],
    ['bedrock', 'anthropic.claude-x', 0.6],
    ['openai-chat', 'gpt-5', 0.7],
    ['openai-chat', undefined, 0.7],
    ['openai-responses', 'gpt-5', 0.8],
    ['genkit', undefined, 0.8],
  ])('of %s with %s is the first that fits: %d', (provider, model, ratio) => {
    expect(findRoute(routes, provider, model)?.thresholdRatio).toBe(ratio);
  });

  it('is none where none fits, and by default', () => {
    expect(findRoute(routes.slice(0, 2), 'genkit', undefined)).toBeUndefined();
    expect(findRoute([], 'openai-chat', 'gpt-5')).toBeUndefined();
  });
});

describe('V6: the threshold of a route', () => {
  it.each([
    // threshold, window, ratio, threshold of the route
    [180_000, 200_000, 0.7, 140_000],
    [100_000, 200_000, 0.7, 100_000],
    [180_000, 200_000, 1, 180_000],
    [28_000, 32_768, 0.7, 22_937],
    [90, 100, 0.7, 70],
    [1, 1, 0.7, 1],
  ])('%i in a window of %i is with %d at most %i', (threshold, window, ratio, expected) => {
    expect(capThreshold(contextBudget({ contextWindow: window, threshold }), window, ratio).threshold).toBe(expected);
  });

  it('leaves the budget alone where there is none', () => {
    const budget = contextBudget({ contextWindow: 200_000 });
    expect(capThreshold(budget, 200_000, undefined)).toBe(budget);
  });

  const estimateOf = (model: string, budget: object) =>
    createCompactor({ adapter: openaiChat(), contextWindow: 200_000, when: 'never', budget }).estimate({ model, messages: [] });

  it('is that of the request, and only ever earlier', () => {
    const routes = [{ model: 'mini', thresholdRatio: 0.7 }];
    expect(estimateOf('gpt-5-mini', { routes })).toMatchObject({
      threshold: 140_000,
      softThreshold: 126_000,
      sources: { threshold: 'configured' },
    });
    expect(estimateOf('gpt-5', { routes })).toMatchObject({ threshold: 171_000, sources: { threshold: 'default' } });
    expect(estimateOf('gpt-5-mini', { routes, threshold: 50_000 }).threshold).toBe(50_000);
    expect(estimateOf('gpt-5-mini', { routes, threshold: 190_000 }).threshold).toBe(140_000);
    // Under a ceiling the window counts as having that size.
    expect(estimateOf('gpt-5-mini', { routes, ceiling: 100_000 }).threshold).toBe(70_000);
  });
});

describe('what else a route says', () => {
  it('is how often a summary is asked for again after an overflow', async () => {
    const overflow = throws(httpError(400, 'prompt is too long'));
    const steps = Array(5).fill(overflow);
    const shared = { contextWindow: 60_000, steps, summary: { retries: 0, overflowRetries: 0 } };
    const asked = async (routes: RoutePolicy[]): Promise<number> => {
      const world = createWrapper({ ...shared, budget: { threshold: 500, countTokens, routes } });
      await world.create(longConversation());
      expect(lifecycleOf(world.events)).toEqual(['started', 'failed: summarizer-overflow']);
      return world.model.summaries.length;
    };
    expect(await asked([])).toBe(1);
    expect(await asked([{ model: 'gpt-5', overflowRetries: 1 }])).toBe(2);
    expect(await asked([{ model: 'other', overflowRetries: 1 }])).toBe(1);
  });

  it('V5: is how much of the window is kept at the end, where something is', () => {
    const settingsWith = (retain: object) =>
      resolveOptions({
        adapter: openaiChat(),
        when: 'never',
        budget: { routes: [{ model: 'mini', tailRatio: 0.1 }] },
        retain,
      });
    const mini = chatView([], { model: 'gpt-5-mini' });
    const kept = withRoute(settingsWith({ tail: { min: 5 } }), mini).retain.tail;
    expect(kept).toEqual({ min: 5, ratio: 0.1 });
    expect(withRoute(settingsWith({ tail: { ratio: 0.2 } }), chatView([], { model: 'gpt-5' })).retain.tail).toEqual({
      ratio: 0.2,
    });
    expect(withRoute(settingsWith({}), mini).retain.tail).toBeUndefined();
  });

  it.each([
    [{ routes: {} }, '`budget.routes` to be a list of policies'],
    [{ routes: [{ model: '' }] }, '`budget.routes.0.model`'],
    [{ routes: [{ thresholdRatio: 0 }] }, '`budget.routes.0.thresholdRatio`'],
    [{ routes: [{ tailRatio: 2 }] }, '`budget.routes.0.tailRatio`'],
    [{ routes: [{ overflowRetries: -1 }] }, '`budget.routes.0.overflowRetries`'],
    [{ routes: [{ modle: 'x' }] }, 'budget.routes.0.modle'],
    [{ soft: 'hard' }, '`budget.soft` to be report or act'],
  ])('is checked: %o', (budget, message) => {
    expect(() => createCompactor({ adapter: openaiChat(), when: 'never', budget: budget as never })).toThrow(message);
  });
});

describe('a window by the model', () => {
  const contextWindow = (model: string | undefined) => ({ small: 32_768, large: 1_000_000 })[model ?? ''];
  const compactor = createCompactor({ adapter: openaiChat(), contextWindow, when: 'never' });

  it.each([
    ['small', 32_768, 'configured'],
    ['large', 1_000_000, 'configured'],
    ['unheard-of', 200_000, 'default'],
  ])('of %s is %i', (model, expected, source) => {
    const request = { model, messages: [] };
    const expectation = { contextWindow: expected, sources: { contextWindow: source } };
    expect(compactor.estimate(request)).toMatchObject(expectation);
    expect(estimateBudget(request, { adapter: openaiChat(), contextWindow })).toMatchObject(expectation);
  });

  it('is asked without a model where there is none', () => {
    expect(compactor.estimate({ messages: [] } as never).contextWindow).toBe(200_000);
    expect(estimateBudget([], { contextWindow: (model) => (model === undefined ? 5000 : 1) }).contextWindow).toBe(5000);
  });

  it('that is no number keeps no request from being sent, compacted as it was', async () => {
    let known: unknown = 10_000;
    const { create, model, events } = createWrapper({
      contextWindow: () => known as number,
      budget: { threshold: 500, countTokens },
    });
    await create(longConversation());
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    known = 'many';
    expect(() => create.compactor.estimate(longConversation())).toThrow('`contextWindow` to be a number of tokens');
    await create(longConversation());
    expect(model.turns[1]!.request).toEqual(model.turns[0]!.request);
  });
});
