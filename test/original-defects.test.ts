import { describe, expect, it } from 'vitest';
import { type AnthropicRequest, anthropicMessages } from '../src/adapters/anthropic.ts';
import { type ChatMessage, type ChatRequest, openaiChat } from '../src/adapters/openai-chat.ts';
import { contextBudget } from '../src/budget/context-budget.ts';
import { estimateBudget } from '../src/budget/estimate.ts';
import { chunkedSummarizer } from '../src/summarize/chunked.ts';
import { withAutoCompaction } from '../src/wrap.ts';
import { createWrapper, eventOf, lifecycleOf, noticesOf } from './support/harness.ts';
import { reportModel, smallOptions } from './support/report-model.ts';
import { anthropicShape, onAllShapes } from './support/report-shapes.ts';
import { countTokens, httpError, throws, toolTurn } from './support/scripted-model.ts';

// What was weak in what this library descends from (2.19; 2.19-4 in test/retain.rules.test.ts, V67 in
// test/suppression.test.ts, V55 in test/history/retained.test.ts).

const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });
const sizeOf = (request: ChatRequest): number =>
  estimateBudget(request, { adapter: openaiChat(), contextWindow: 1_000_000, countTokens }).tokens;

/** About so many tokens, in turns that end with input of the user. */
function historyOf(tokens: number): ChatMessage[] {
  const turns = Array.from({ length: 40 }, (_, index) => [
    user(`Q${index}.`),
    assistant('a'.repeat(Math.ceil(tokens / 10) - 40)),
  ]);
  return [...turns.flat(), user('And now?')];
}

describe('2.19-1, 2.19-2: at the threshold nothing has to be left out, so that the prompt cache is used where it matters', () => {
  it.each([16_000, 32_768, 128_000, 200_000, 1_000_000])('in a window of %i tokens', async (contextWindow) => {
    const { threshold } = contextBudget({ contextWindow });
    const request: ChatRequest = { model: 'gpt-5', messages: historyOf(threshold * 1.02) };
    expect(sizeOf(request)).toBeGreaterThan(threshold);
    const { create, events, model } = createWrapper({ contextWindow, budget: { countTokens } });
    await create.compactor.prepare(request);
    const applied = eventOf(events, 'auto_compaction_applied');
    expect([applied.omitted, applied.prefix, applied.because]).toEqual([undefined, 'kept', []]);
    model.summaries[0]?.request.messages.slice(0, -1).forEach((item, index) => void expect(item).toBe(request.messages[index]));
  });
});

it('2.19-1: where something has to be left out it is told, and a chunked summary leaves out nothing', async () => {
  const request: ChatRequest = { model: 'gpt-5', messages: historyOf(60_000) };
  const forked = createWrapper({ contextWindow: 16_000, budget: { countTokens } });
  await forked.create.compactor.prepare(request);
  expect(noticesOf(forked.events)).toContain('omitted');
  expect(eventOf(forked.events, 'auto_compaction_applied').omitted?.items).toBeGreaterThan(20);
  const chunked = createWrapper({ contextWindow: 16_000, budget: { countTokens }, summary: { summarizer: chunkedSummarizer() } });
  await chunked.create.compactor.prepare(request);
  expect(eventOf(chunked.events, 'auto_compaction_applied').omitted).toBe(undefined);
  const asked = chunked.model.summaries.map((sent) => JSON.stringify(sent.request.messages)).join();
  for (let index = 0; index < 40; index++) expect(asked.split(`"Q${index}."`)).toHaveLength(2);
});

it('2.19-3: where a choice of no tool would change the cached prefix, none is set: calls are denied', async () => {
  const { options } = smallOptions(anthropicShape);
  const model = reportModel(anthropicShape, [() => anthropicShape.reply({ calls: ['denied'] })]);
  const create = withAutoCompaction(model.send, { ...options, adapter: anthropicMessages() });
  const items = [anthropicShape.user('Begin.'), anthropicShape.assistant('a'.repeat(4000)), anthropicShape.user('Go on.')];
  const request = anthropicShape.request(items);
  await create(request);
  expect(model.summaries).toHaveLength(2);
  for (const { request: asked } of model.summaries) {
    expect(asked).not.toHaveProperty('tool_choice');
    expect({ ...asked, messages: [], max_tokens: 0 }).toEqual({ ...request, messages: [], max_tokens: 0 } as AnthropicRequest);
  }
});

onAllShapes((shape) => {
  it('2.19-5: the summary is a message of the user, right behind the system text, in every shape', async () => {
    const { options } = smallOptions(shape);
    const create = withAutoCompaction(reportModel(shape).send, options);
    const sent = await create.compactor.prepare(
      shape.request([shape.user('Begin.'), shape.assistant('a'.repeat(4000)), shape.user('Go on.')]),
    );
    const messages = shape.adapter.items(sent).flatMap((item) => shape.adapter.readItem(item));
    expect(messages.filter(({ role }) => role !== 'system').map(({ role }) => role)).toEqual(['user']);
    expect(messages.at(-1)?.role).toBe('user');
  });
});

describe('2.19-6: the least size of a tail never makes a request too large', () => {
  it.each([1, 300, 585, 586, 1024, 1755, 4096, 4097, 5000, 6000])('in a window of %i tokens', async (contextWindow) => {
    const messages = [
      ...Array.from({ length: 8 }, (_, index) => [user(`Q${index}.`), ...toolTurn(`c${index}`, 'r'.repeat(1600))]).flat(),
      user('And now?'),
    ];
    const request: ChatRequest = { model: 'gpt-5', messages };
    const { create, events } = createWrapper({ contextWindow, budget: { countTokens }, retain: { tail: {}, messages: {} } });
    const { threshold } = create.compactor.estimate(request);
    const sent = await create.compactor.prepare(request);
    if (lifecycleOf(events).includes('applied')) expect(sizeOf(sent)).toBeLessThan(threshold);
    else {
      expect(sent).toBe(request);
      expect([...lifecycleOf(events), ...noticesOf(events)].length).toBeGreaterThan(0); // it is told why
    }
  });
});

onAllShapes((shape) => {
  it('2.19-7: what fits is repaired, too: a call at the end that nobody answered has a result in the summary request', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape); // refuses what the provider refuses
    const create = withAutoCompaction(model.send, options);
    const items = [shape.user('Begin.'), shape.assistant('a'.repeat(4000)), shape.user('Read it.'), ...shape.calls(['open'])];
    const { request, notices } = await create.compactor.compact(shape.request(items));
    expect(model.summaries).toHaveLength(1);
    expect(notices.map(({ code }) => code)).toContain('repaired');
    expect(shape.validate(request)).toEqual([]);
  });
});

it('2.19-9: the retry has half of what was just rejected, however large the window was said to be', async () => {
  const overflow = httpError(400, 'prompt is too long');
  const request: ChatRequest = { model: 'gpt-5', messages: historyOf(20_000) };
  const { create, model } = createWrapper({
    contextWindow: 1_000_000,
    budget: { countTokens, threshold: 10_000 },
    steps: [throws(overflow)],
  });
  await create.compactor.prepare(request);
  const [first, second, ...more] = model.summaries.map((sent) => sizeOf(sent.request));
  expect(more).toEqual([]);
  expect(first).toBeGreaterThan(20_000);
  expect(second).toBeLessThan(first! * 0.55);
});

it('2.19-10: an overflow is known wherever in the chain of causes it is, in a turn as in a summary request', async () => {
  const overflow = new Error('failed', { cause: new Error('fetch', { cause: httpError(400, 'prompt is too long') }) });
  let refused = false;
  const { create, model, events } = createWrapper({
    contextWindow: 100_000,
    budget: { countTokens },
    recoverOverflow: true,
    steps: [throws(overflow)],
    turn: () => {
      if (refused) return { choices: [{ message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' }] };
      refused = true;
      throw overflow;
    },
  });
  await create({ model: 'gpt-5', messages: historyOf(20_000) });
  expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  expect(noticesOf(events)).toEqual(expect.arrayContaining(['summary-shortened', 'overflow-recovered']));
  expect([model.turns.length, model.summaries.length]).toEqual([2, 2]);
});
