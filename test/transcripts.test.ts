import { describe, expect, it } from 'vitest';
import { extractiveSummarizer } from '../src/summarize/extractive.ts';
import type { Summarizer } from '../src/summarize/summarizer.ts';
import { emptyRun, type Run, runConversation } from './support/transcript-run.ts';
import type { Body } from './support/transcript-run-messages.ts';
import { anthropicProvider, openaiProvider, type Provider } from './support/transcript-run-providers.ts';
import { loadConversations } from './support/transcripts.ts';

interface Setting {
  window: number;
  /** Absent: the model is asked. */
  summarizer?: Summarizer;
}

// A summarizer that asks no model always fits: it shows the budget kept where a summary request would be too long.
const settings: readonly Setting[] = [
  { window: 8192 },
  { window: 16_384 },
  { window: 32_768 },
  { window: 8192, summarizer: extractiveSummarizer() },
];
const conversations = loadConversations();
console.log(`transcripts: ${conversations.length} conversations run through compaction`);

// The recordings are not part of the project: where they are absent there is nothing to run, and the count above says so.
describe.skipIf(conversations.length === 0)('every recorded conversation, request by request as it grew', () => {
  it('keeps OpenAI Chat requests valid, true to the original and inside their budget', { timeout: 300_000 }, async () => {
    await runAll(openaiProvider);
  });

  it('keeps Anthropic requests valid, true to the original and inside their budget', { timeout: 300_000 }, async () => {
    await runAll(anthropicProvider);
  });
});

async function runAll<Shape, Item, ShapeOfReply, Request extends Shape & Body, Reply extends ShapeOfReply>(
  provider: Provider<Shape, Item, ShapeOfReply, Request, Reply>,
): Promise<void> {
  const start = performance.now();
  const totals = settings.map((setting) => ({ ...setting, ...emptyRun() }));
  for (const conversation of conversations) {
    const replay = provider.replay(conversation);
    for (const total of totals)
      add(total, conversation.name, await runConversation(provider, replay(), total.window, total.summarizer));
  }
  console.log(`${provider.adapter.name}: ${conversations.length} conversations, ${Math.round(performance.now() - start)} ms`);
  console.table(totals.map(toRow));
  expect(totals.flatMap(({ problems }) => problems)).toEqual([]);
  for (const { compactions } of totals) expect(compactions).toBeGreaterThan(0);
}

type Total = Setting & Run;

function add(total: Total, name: string, run: Run): void {
  for (const key of ['requests', 'compactions', 'bounded', 'rebuilt', 'growth'] as const) total[key] += run[key];
  addCounts(total.failures, run.failures);
  addCounts(total.overBudget, run.overBudget);
  total.problems.push(...run.problems.map((problem) => `${name}, ${total.window}: ${problem}`));
}

function addCounts<Key extends string>(total: Record<Key, number>, counts: Record<Key, number>): void {
  for (const key in counts) total[key] += counts[key];
}

function toRow({ window, summarizer, requests, compactions, bounded, failures, rebuilt, overBudget, growth }: Total): object {
  return {
    window,
    summary: summarizer ? 'no model' : 'model',
    requests,
    rebuilt,
    compactions,
    bounded,
    ...failures,
    ...Object.fromEntries(Object.entries(overBudget).map(([excuse, count]) => [`over: ${excuse}`, count])),
    'tokens grown a compaction': Math.round(growth / compactions),
  };
}
