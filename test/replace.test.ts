import { describe, expect, it } from 'vitest';
import { openaiResponses, type ResponsesItem, type ResponsesRequest } from '../src/adapters/openai-responses.ts';
import { createCompactor } from '../src/compactor.ts';
import type { CompactionEvent } from '../src/events.ts';
import { forkSummarizer } from '../src/summarize/fork.ts';
import { keepLast } from '../src/summarize/keep-last.ts';
import type { Summarizer, SummaryTask } from '../src/summarize/summarizer.ts';
import { createWrapper, eventOf, isCompacted, lifecycleOf, noticesOf } from './support/harness.ts';
import { countTokens, goodSummary, longConversation, summarizes, toolTurn } from './support/scripted-model.ts';

const summaryOf = (tokens: number): string => `${goodSummary}\n${'s'.repeat(tokens * 4)}`;

describe('the target', () => {
  it('refuses a compacted request that is over it, and nothing has changed', async () => {
    const { create, events } = createWrapper({ summary: { target: 0.05 }, steps: [summarizes(summaryOf(300))] });
    const request = longConversation();
    expect(await create.compactor.prepare(request)).toBe(request);
    expect(lifecycleOf(events)).toEqual(['started', 'failed: over-target']);
  });

  it('takes one that is at most as large', async () => {
    const { create, events } = createWrapper({ summary: { target: 0.2 }, steps: [summarizes(summaryOf(300))] });
    expect(isCompacted(await create.compactor.prepare(longConversation()))).toBe(true);
    const { tokensAfter } = eventOf(events, 'auto_compaction_applied');
    const { inputBudget } = create.compactor.estimate(longConversation());
    expect(tokensAfter).toBeLessThanOrEqual(inputBudget * 0.2);
  });

  it('asks for no summary where what must stay is over it alone, which is told once', async () => {
    const { create, events, model } = createWrapper({ summary: { target: 0.001 } });
    const request = longConversation();
    expect(await create.compactor.plan(request)).toMatchObject({ wouldCompact: false, gate: 'irreducible' });
    expect(await create.compactor.prepare(request)).toBe(request);
    await create.compactor.prepare({ ...request, messages: [...request.messages, ...toolTurn('call_3', 'More.')] });
    expect([model.summaries.length, lifecycleOf(events), noticesOf(events)]).toEqual([0, [], ['irreducible']]);
  });

  it('is what retained turns make way for', async () => {
    const retain = { tail: { min: 0, max: 5000 } };
    const { create, events } = createWrapper({ summary: { target: 0.15 }, retain });
    expect(isCompacted(await create.compactor.prepare(longConversation()))).toBe(true);
    const { inputBudget } = create.compactor.estimate(longConversation());
    expect(eventOf(events, 'auto_compaction_applied').tokensAfter).toBeLessThanOrEqual(inputBudget * 0.15);
  });
});

describe('the least saving', () => {
  it.each([
    [0.9, 'failed: not-smaller'],
    [0.2, 'applied'],
  ])('%d of what goes', async (minimumSaving, ended) => {
    const { create, events } = createWrapper({ summary: { minimumSaving }, steps: [summarizes(summaryOf(400))] });
    await create.compactor.prepare(longConversation());
    expect(lifecycleOf(events).at(-1)).toBe(ended);
  });
});

const user = (text: string): ResponsesItem => ({ role: 'user', content: text });
const talk: ResponsesItem[] = [
  user('Begin.'),
  { role: 'assistant', content: 'a'.repeat(6000) },
  user('And then?'),
  { role: 'assistant', content: 'b'.repeat(4000) },
  user('Go on.'),
];
const sealed: ResponsesItem = { type: 'compaction', id: 'cmp_1', encrypted_content: 'x'.repeat(4000) };

/** Items in place of the conversation, as a provider makes them. */
function giving(items: readonly object[], tokens?: number): Summarizer {
  // Chosen for the one shape of these tests.
  return async <Request, Item, Reply>(_: SummaryTask<Request, Item, Reply>) => ({ items: items as unknown as Item[], tokens });
}

async function compact(items: readonly object[], input = talk, tokens?: number) {
  const events: CompactionEvent[] = [];
  const compactor = createCompactor({
    adapter: openaiResponses(),
    contextWindow: 8192,
    budget: { threshold: 2000, countTokens },
    summary: { summarizer: giving(items, tokens) },
    onEvent: (event) => void events.push(event),
  });
  const request: ResponsesRequest = { model: 'gpt-5', input };
  const prepared = await compactor.prepare(request);
  return { compactor, events, request, prepared: prepared.input as ResponsesItem[] };
}

describe('items in place of a conversation', () => {
  it('stand there as they are, in their order, and what was said last after them where they do not hold it', async () => {
    const given = [user('Begin.'), user('And then?'), sealed];
    const { prepared, events } = await compact(given);
    expect(prepared.slice(0, 3)).toEqual(given);
    expect(
      prepared
        .slice(3)
        .map((item) => JSON.stringify(item))
        .join(),
    ).toContain('Go on.');
    expect(prepared).toHaveLength(4);
    expect(eventOf(events, 'auto_compaction_applied').replacement).toHaveLength(4);
  });

  it('that hold what was said last are all that there is', async () => {
    const given = [user('Begin.'), user('Go on.'), sealed];
    expect((await compact(given)).prepared).toEqual(given);
  });

  it('are kept in their order by the next request, and by a snapshot', async () => {
    const given = [user('Begin.'), user('Go on.'), sealed];
    const { compactor, request } = await compact(given);
    const next = { ...request, input: [...talk, { role: 'assistant', content: 'Gone.' }, user('More.')] };
    const input = (await compactor.prepare(next)).input as ResponsesItem[];
    expect(input).toEqual([...given, ...next.input.slice(-2)]);
    const other = createCompactor({ adapter: openaiResponses(), when: 'never' });
    other.restore(JSON.parse(JSON.stringify(compactor.snapshot(next))));
    // Written anew, messages have their type.
    const written = (await other.prepare(next)).input as ResponsesItem[];
    expect(written.map(({ type: _, ...item }) => item)).toEqual(input.map(({ type: _, ...item }) => item));
  });

  it('that only the provider can read are taken whatever they seem to weigh, and measured by what it says of them', async () => {
    const large = { ...sealed, encrypted_content: 'x'.repeat(40_000) };
    expect(lifecycleOf((await compact([user('Go on.'), large])).events)).toEqual(['started', 'applied']);
    expect(lifecycleOf((await compact([user('Go on.'), large], talk, 100)).events)).toEqual(['started', 'applied']);
    expect(lifecycleOf((await compact([user('Go on.'), large], talk, 9000)).events)).toEqual(['started', 'failed: not-smaller']);
    expect(lifecycleOf((await compact([user('y'.repeat(20_000))])).events)).toEqual(['started', 'failed: not-smaller']);
  });

  it('V60: take the place of an earlier checkpoint of the provider: exactly one is left', async () => {
    const earlier = { type: 'compaction', id: 'cmp_0', encrypted_content: 'old' };
    const { prepared } = await compact([user('Go on.'), sealed], [earlier, ...talk]);
    expect(prepared).toEqual([user('Go on.'), sealed]);
  });

  it.each([Number.NaN, -1])('of a size that is none change nothing: %s tokens', async (tokens) => {
    const summarizer: Summarizer = async <Request, Item, Reply>({ adapter }: SummaryTask<Request, Item, Reply>) => ({
      items: adapter.writeMessage({ role: 'user', parts: [{ type: 'text', text: goodSummary }] }),
      tokens,
    });
    const { create, events } = createWrapper({ summary: { summarizer } });
    const request = longConversation();
    expect(await create.compactor.prepare(request)).toBe(request);
    expect(lifecycleOf(events)).toEqual(['started', 'failed: not-a-summary']);
  });

  it('that are none change nothing', async () => {
    const { events, prepared } = await compact([]);
    expect(lifecycleOf(events)).toEqual(['started', 'failed: empty-summary']);
    expect(prepared).toBe(talk);
  });
});

describe('a few long messages', () => {
  it('V44: are cut without a model, and what the user said stays', async () => {
    const { create, events, model } = createWrapper({ summary: { summarizer: keepLast(10, forkSummarizer()) } });
    const request = longConversation();
    const { messages } = await create.compactor.prepare(request);
    expect(model.summaries).toEqual([]);
    expect(messages.map(({ role }) => role)).toEqual(request.messages.map(({ role }) => role));
    expect(messages.filter(({ role }) => role === 'user')).toEqual(request.messages.filter(({ role }) => role === 'user'));
    expect(eventOf(events, 'auto_compaction_applied')).toMatchObject({ omitted: { items: 0, tokens: expect.any(Number) } });
    expect(create.compactor.estimate(request).overThreshold).toBe(false);
  });

  it('V44: are summarized where there are more, where that is always asked for, and by hand', async () => {
    for (const summarizer of [keepLast(3, forkSummarizer()), keepLast(10, forkSummarizer(), { always: true })]) {
      const { create, model } = createWrapper({ summary: { summarizer } });
      expect(isCompacted(await create.compactor.prepare(longConversation()))).toBe(true);
      expect(model.summaries).toHaveLength(1);
    }
    const { create, model } = createWrapper({ summary: { summarizer: keepLast(10, forkSummarizer()) } });
    await create.compactor.compact(longConversation());
    expect(model.summaries).toHaveLength(1);
  });
});
