import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { loadTokenCounter } from '../src/budget/tokenizer.ts';
import { createCompactor } from '../src/compactor.ts';
import { isCompactionError } from '../src/errors.ts';
import type { Message } from '../src/message.ts';
import {
  chunkedSummarizer,
  firstOf,
  hierarchicalSummarizer,
  isolatedSummarizer,
  keepLast,
  nativeSummarizer,
} from '../src/strategies.ts';
import { extractiveSummarizer } from '../src/summarize/extractive.ts';
import { forkSummarizer } from '../src/summarize/fork.ts';
import type { Summarizer } from '../src/summarize/summarizer.ts';
import type { ProviderKit } from '../src/testing/provider-kit.ts';
import { providerKits } from '../src/testing/provider-kits.ts';
import { startResponsesCompactServer } from './support/responses-compact-server.ts';
import { readSteps } from './support/transcripts/neutral-steps.ts';
import { loadConversations } from './support/transcripts.ts';

// A real session at the moment before its own agent compacted it: 995 messages.
const conversation = loadConversations().find(({ name }) => name.endsWith('before-compaction.jsonl'));
const windows = [8192, 32_768, 100_000, 200_000];
const countTokens = remember(await loadTokenCounter());

// Each kit is sound in itself; a list of them has no common type.
const kits = Object.values(providerKits) as unknown as ProviderKit<object, object, unknown>[];

const summarizers: Record<string, () => Summarizer> = {
  fork: forkSummarizer,
  chunked: chunkedSummarizer,
  isolated: () => isolatedSummarizer(),
  hierarchical: () => hierarchicalSummarizer(),
  'keep last': () => keepLast(10, forkSummarizer()),
  'first of two': () => firstOf(forkSummarizer(), extractiveSummarizer()),
  extractive: extractiveSummarizer,
};

/** What one compaction may cost: a history of so many windows takes as many requests where nothing is left out. */
const mostCalls: Record<string, (windowsFull: number) => number> = {
  fork: () => 2,
  chunked: (windowsFull) => 4 + Math.ceil(6 * windowsFull),
  isolated: () => 2,
  hierarchical: () => 4,
  'keep last': () => 2,
  'first of two': () => 2,
  extractive: () => 0,
};

interface Row {
  shape: string;
  window: number;
  summarizer: string;
  server: 'honest' | 'lies';
  calls: number;
  refused: number;
  before: number;
  after: number | string;
  omitted: number;
}

/** Compacts the whole history once, on a server that refuses what is over its window: all of the one it is said to have, or 70 % of it. */
async function compactOnce<Request, Item, Reply>(
  kit: ProviderKit<Request, Item, Reply>,
  messages: readonly Message[],
  window: number,
  name: string,
  server: Row['server'],
): Promise<Row> {
  const { adapter } = kit;
  const row: Row = { shape: kit.name, window, summarizer: name, server, calls: 0, refused: 0, before: 0, after: '', omitted: 0 };
  const request = kit.request(messages.flatMap((message) => adapter.writeMessage(message)));
  const compactor = createCompactor({
    adapter,
    contextWindow: window,
    budget: { countTokens },
    summary: { summarizer: summarizers[name]?.(), timeout: 100_000 },
    send: async (sent: Request): Promise<Reply> => {
      row.calls++;
      expect(kit.validate(sent)).toEqual([]);
      const tokens = createCompactor({ adapter, contextWindow: window, budget: { countTokens }, when: 'never' }).estimate(
        sent,
      ).tokens;
      if (tokens > (server === 'honest' ? window : window * 0.7)) {
        row.refused++;
        throw kit.error('overflow');
      }
      return kit.reply({
        text: '## Goal\nShip it.\n\n## Accomplished\nHalf of it.',
        usage: { inputTokens: tokens, outputTokens: 20 },
      });
    },
  });
  const untouched = adapter.items(request);
  const result = await compactor.compact(request).catch((error: unknown) => error);
  if (result instanceof Error) {
    expect(isCompactionError(result), String(result)).toBe(true);
    expect(adapter.items(request)).toEqual(untouched);
    return { ...row, after: isCompactionError(result) ? result.code : String(result) };
  }
  // What is no error is a result: the promise was caught above.
  const done = result as Awaited<ReturnType<typeof compactor.compact>>;
  expect(kit.validate(done.request)).toEqual([]);
  return { ...row, before: done.tokensBefore, after: done.tokensAfter, omitted: done.omitted?.tokens ?? 0 };
}

// The recordings are not part of the project: where this one is absent there is nothing to run, here and below.
describe.skipIf(!conversation)('a history of 377,000 tokens', { timeout: 300_000 }, () => {
  const messages = conversation ? readSteps(conversation).steps.flatMap(({ before, reply }) => [...before, ...reply]) : [];

  it.each(['openai-chat', 'anthropic'] as const)('ends in one summary that fits, whoever writes it, as %s', async (shape) => {
    const rows: Row[] = [];
    for (const name of Object.keys(summarizers))
      for (const window of windows)
        for (const server of ['honest', 'lies'] as const)
          rows.push(await compactOnce(kits.find((kit) => kit.name === shape)!, messages, window, name, server));
    console.table(rows);
    for (const row of rows) {
      const say = JSON.stringify(row);
      expect(row.calls, say).toBeLessThanOrEqual(mostCalls[row.summarizer]?.(row.before / row.window) ?? 0);
      expect(row.after, say).toBeTypeOf('number');
      expect(row.after, say).toBeLessThan(row.window * 0.6);
      if (row.server === 'honest') expect(row.refused, say).toBe(0);
    }
    expect(rows.find(({ summarizer, window }) => summarizer === 'chunked' && window === 32_768)?.omitted).toBeLessThan(40_000);
  });

  it('ends in one summary in every shape, with the provider’s own error for what is too long', async () => {
    const rows: Row[] = [];
    // Each kit is sound in itself; a list of them has no common type.
    for (const kit of Object.values(providerKits))
      for (const name of ['fork', 'chunked'])
        for (const server of ['honest', 'lies'] as const) rows.push(await compactOnce(kit, messages, 32_768, name, server));
    console.table(rows);
    for (const row of rows) {
      expect(row.after, JSON.stringify(row)).toBeTypeOf('number');
      if (row.server === 'honest') expect(row.refused, JSON.stringify(row)).toBe(0);
    }
  });
});

/** The provider's own compaction, by the official client over HTTP: the server refuses what is over its window. */
describe.skipIf(!conversation)('a history of 377,000 tokens, compacted by the provider itself', { timeout: 300_000 }, () => {
  it.each([
    [32_768, 1],
    [200_000, 1],
    [200_000, 0.4],
  ])('in a window of %d tokens, of which %d are there', async (window, part) => {
    const kit = providerKits['openai-responses'];
    const messages = conversation ? readSteps(conversation).steps.flatMap(({ before, reply }) => [...before, ...reply]) : [];
    const server = await startResponsesCompactServer({ window: window * part });
    try {
      const client = new OpenAI({ apiKey: 'offline', baseURL: server.url, maxRetries: 0 });
      const { adapter } = kit;
      const said = [...messages, { role: 'user', parts: [{ type: 'text', text: 'Go on.' }] } as const];
      const request = kit.request(said.flatMap((message) => adapter.writeMessage(message)));
      const compactor = createCompactor({
        adapter,
        contextWindow: window,
        // As the server counts.
        budget: { countTokens: (text) => Math.ceil(text.length / 3) },
        summary: { summarizer: firstOf(nativeSummarizer({ openai: client.responses }), extractiveSummarizer()) },
      });
      const { request: compacted, omitted } = await compactor.compact(request);
      expect(kit.validate(compacted)).toEqual([]);
      expect(server.compactions).toHaveLength(1);
      expect(omitted?.tokens ?? 0).toBeGreaterThan(part === 1 ? 100_000 : -1);
      const items = adapter.items(compacted).map((item) => JSON.stringify(item));
      // What is refused is written without a model; what is taken stands as the provider gave it.
      expect(items.some((item) => item.includes('"compaction"'))).toBe(part === 1);
    } finally {
      await server.close();
    }
  });
});

/** The same texts are counted again and again. */
function remember(count: (text: string) => number): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    const tokens = known.get(text) ?? count(text);
    if (known.size < 20_000) known.set(text, tokens);
    return tokens;
  };
}
