import { describe, expect, it } from 'vitest';
import { type ChatMessage, type ChatRequest, openaiChat } from '../../src/adapters/openai-chat.ts';
import { estimateBudget } from '../../src/budget/estimate.ts';
import { freezeDeep } from '../support/freeze.ts';
import { createWrapper, eventOf, lifecycleOf, noticesOf, type WorldOptions } from '../support/harness.ts';
import { countTokens, goodSummary, httpError, summarizes, throws, toolTurn } from '../support/scripted-model.ts';

const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });
const turn = (index: number, size: number): ChatMessage[] => [user(`Question ${index}.`), assistant('a'.repeat(size))];
const overflow = httpError(400, 'prompt is too long: 210000 tokens > 200000 maximum');

const countChat = (request: ChatRequest): number =>
  estimateBudget(request, { adapter: openaiChat(), contextWindow: 1_000_000, countTokens }).tokens;

/** A compaction by hand of a conversation in a window, and the conversations that it was asked about. */
async function compactIn(contextWindow: number, messages: readonly ChatMessage[], options: WorldOptions = {}) {
  const request: ChatRequest = freezeDeep({ model: 'gpt-5', messages: [...messages] });
  const world = createWrapper({ contextWindow, budget: { countTokens }, request, ...options });
  const result = await world.create.compactor.compact(request).catch((error: unknown) => error);
  const asked = world.model.summaries.map((sent) => sent.request.messages.slice(0, -1));
  const sizes = asked.map((items) => countChat({ model: 'gpt-5', messages: items }));
  return { ...world, request, result, asked, sizes };
}

describe('what the summarizer is given', () => {
  // V14 keeps an eighth of the window and 512 tokens free, whatever the summary may have; here it is what the summary and a wrong estimate
  // need.
  it.each([
    [4096, 3072],
    [8192, 6656],
    [32_768, 28_160],
    [128_000, 111_488],
    [160_000, 139_488],
    [200_000, 174_488],
  ])('V14: of a history of twice the window of %i tokens it is about %i, with room for its cap', async (window, budget) => {
    const turns = Array.from({ length: 160 }, (_, index) => turn(index, Math.floor((window * 8) / 160))).flat();
    const { sizes, model } = await compactIn(window, turns);
    expect(sizes).toHaveLength(1);
    expect(sizes[0]).toBeGreaterThan(budget * 0.75);
    expect(sizes[0]).toBeLessThan(budget * 1.1);
    expect(sizes[0]! + Number(model.summaries[0]?.request.max_completion_tokens)).toBeLessThan(window);
  });

  it('V27: what is cut is cut in its copy alone: what stays in the conversation is whole', async () => {
    const dump = toolTurn('dump', 'd'.repeat(20_000));
    const old = Array.from({ length: 20 }, (_, index) => turn(index, 4000)).flat();
    const messages = [...old, user('Read it.'), ...dump, assistant('Read.')];
    const { asked, result } = await compactIn(20_000, messages, { retain: { tail: { min: 6000, max: 6000 } } });
    expect(asked[0]?.find(({ role }) => role === 'tool')).toMatchObject({
      tool_call_id: 'dump',
      content: expect.stringMatching(/^d{9000,17000}\n\[The rest was left out\.]$/),
    });
    expect(result).toMatchObject({ request: { messages: [user(goodSummary), user('Read it.'), ...dump, assistant('Read.')] } });
  });

  it('V30: what stands before the first word of the user goes first, but for system text', async () => {
    const system: ChatMessage = { role: 'system', content: 'Be exact.' };
    const turns = Array.from({ length: 20 }, (_, index) => turn(index, 4000)).flat();
    const { asked, result } = await compactIn(16_000, [system, assistant('Welcome.'), ...turns]);
    expect(asked[0]?.[0]).toEqual(system);
    expect(asked[0]?.[1]).toMatchObject({ role: 'user' });
    expect(asked[0]).not.toContainEqual(assistant('Welcome.'));
    expect(result).toMatchObject({ omitted: { items: 41 - (asked[0]!.length - 1) } });
  });
});

describe('a summary request that the provider finds too long', () => {
  const turns = Array.from({ length: 40 }, (_, index) => turn(index, 2000)).flat();

  it('V36: a blank summary is not asked for again', async () => {
    const { model, result } = await compactIn(64_000, turns, { steps: [summarizes('   '), summarizes(goodSummary)] });
    expect(model.summaries).toHaveLength(1);
    expect(result).toMatchObject({ code: 'empty-summary' });
  });

  it('V36, V39: is asked once more, strictly smaller, and then fails with where it happened and why', async () => {
    const { sizes, result, model } = await compactIn(64_000, turns, {
      steps: [throws(overflow), throws(overflow), summarizes()],
    });
    expect(model.summaries).toHaveLength(2);
    expect(sizes[1]).toBeLessThan(sizes[0]! / 2 + 1);
    expect(result).toMatchObject({ code: 'summarizer-overflow', cause: overflow, provider: 'openai-chat', model: 'gpt-5' });
  });

  it('V37: the failure tells the size of the whole request, and the budget that it was held against', async () => {
    const { result, create, request } = await compactIn(64_000, turns, { steps: [throws(overflow), throws(overflow)] });
    const { inputBudget } = create.compactor.estimate(request);
    expect(String(result)).toContain(`(openai-chat, gpt-5, input_tokens=${countChat(request)}, budget=${inputBudget})`);
  });

  it('V38: by default twice at most; none and more are options', async () => {
    for (const [overflowRetries, calls] of [
      [undefined, 2],
      [0, 1],
      [3, 4],
    ] as const) {
      const steps = Array.from({ length: 9 }, () => throws(overflow));
      const { sizes } = await compactIn(64_000, turns, { steps, summary: { overflowRetries, retries: 0 } });
      expect(sizes).toHaveLength(calls);
      expect(sizes.every((size, index) => index === 0 || size < sizes[index - 1]!)).toBe(true);
    }
  });

  it('V39: two halvings are enough where the second fits', async () => {
    const { sizes, result } = await compactIn(64_000, turns, {
      steps: [throws(overflow), throws(overflow), summarizes(goodSummary)],
      summary: { overflowRetries: 2 },
    });
    expect(sizes).toHaveLength(3);
    expect(result).toMatchObject({ omitted: { items: expect.any(Number) }, notices: expect.any(Array) });
  });

  it('V39: is asked with less also where nobody told the window', async () => {
    const long = Array.from({ length: 40 }, (_, index) => turn(index, 8000)).flat();
    const { sizes, result } = await compactIn(0, long, { steps: [throws(overflow), summarizes(goodSummary)] });
    expect(sizes).toHaveLength(2);
    expect(sizes[1]).toBeLessThanOrEqual(sizes[0]! / 2);
    expect(result).toMatchObject({ request: { messages: [user(goodSummary)] } });
  });

  it('V41: is known as such wherever in the chain of causes the provider says so', async () => {
    const nested = new Error('The request failed.', { cause: new Error('fetch failed', { cause: overflow }) });
    const { sizes } = await compactIn(64_000, turns, {
      steps: [throws(nested), summarizes(goodSummary)],
      summary: { retries: 0 },
    });
    expect(sizes).toHaveLength(2);
  });

  it('tells what was left out in the event, too', async () => {
    const messages = [...turns, user('And now?')];
    const world = createWrapper({ contextWindow: 64_000, budget: { countTokens, threshold: 9000 }, steps: [throws(overflow)] });
    await world.create.compactor.prepare({ model: 'gpt-5', messages });
    expect(lifecycleOf(world.events)).toEqual(['started', 'applied']);
    expect(noticesOf(world.events)).toEqual(['summary-shortened', 'prefix-changed', 'omitted']);
    const { omitted, because } = eventOf(world.events, 'auto_compaction_applied');
    expect(omitted?.items).toBeGreaterThan(30);
    expect(because).toContain('bounded history');
  });
});
