import { describe, expect, it } from 'vitest';
import { createCompactor } from '../src/compactor.ts';
import { isCompactionError } from '../src/errors.ts';
import type { CompactionResult } from '../src/machine.ts';
import { chunkedSummarizer, hierarchicalSummarizer, isolatedSummarizer } from '../src/strategies.ts';
import { extractiveSummarizer } from '../src/summarize/extractive.ts';
import { forkSummarizer } from '../src/summarize/fork.ts';
import type { Summarizer } from '../src/summarize/summarizer.ts';
import { requestTokens } from './support/request-tokens.ts';
import { goodSummary, httpError } from './support/scripted-model.ts';
import type { Body } from './support/transcript-run-messages.ts';
import { anthropicProvider, openaiProvider, type Provider } from './support/transcript-run-providers.ts';
import { loadConversations } from './support/transcripts.ts';

const longest = loadConversations().find(({ name }) => name === 'pi-mono/before-compaction.jsonl');
/** What of its window a provider really has. */
const truths = [1, 0.6];
const summarizers: Record<string, () => Summarizer> = {
  fork: forkSummarizer,
  isolated: isolatedSummarizer,
  hierarchical: hierarchicalSummarizer,
  chunked: chunkedSummarizer,
  extractive: extractiveSummarizer,
};
console.log(`strategies: ${longest ? 'the longest recorded conversation' : 'no conversation'} runs through each summarizer`);

// The recordings are not part of the project: where they are absent there is nothing to run, and the line above says so.
describe.skipIf(!longest)('a recorded conversation of 995 messages', () => {
  it('OpenAI Chat: ends in a summary, by each summarizer in each window', { timeout: 300_000 }, () =>
    runAll(openaiProvider, [8000, 128_000], 'context_length_exceeded: maximum context length is exceeded'),
  );

  it('Anthropic: ends in a summary, by each summarizer in each window', { timeout: 300_000 }, () =>
    runAll(anthropicProvider, [32_000], 'prompt is too long: 210000 tokens > 200000 maximum'),
  );
});

async function runAll<Shape, Item, ShapeOfReply, Request extends Shape & Body, Reply extends ShapeOfReply>(
  provider: Provider<Shape, Item, ShapeOfReply, Request, Reply>,
  windows: readonly number[],
  tooLong: string,
): Promise<void> {
  if (!longest) return;
  const steps = [...provider.replay(longest)()];
  const request = steps.at(-1)?.request;
  if (!request) throw new Error('Expected a conversation with replies.');
  const rows: { name: string; left: number; truth: number; [column: string]: unknown }[] = [];
  for (const contextWindow of windows)
    for (const truth of truths)
      for (const [name, create] of Object.entries(summarizers)) {
        let refused = 0;
        let calls = 0;
        const compactor = createCompactor({
          adapter: provider.adapter,
          contextWindow,
          summary: { summarizer: create(), retries: 0 },
          send: async (asked: Request): Promise<Reply> => {
            calls++;
            expect(provider.validate(asked)).toEqual([]);
            const size = requestTokens(asked);
            if (size + provider.outputCap(asked) > contextWindow * truth) {
              refused++;
              throw httpError(400, tooLong);
            }
            return provider.writeSummary(goodSummary, size);
          },
        });
        const result = await compactor.compact(request).catch((error: unknown) => error);
        const failure = isCompactionError(result) ? result.code : undefined;
        if (failure === undefined && result instanceof Error) throw result;
        const { omitted } = failure ? {} : (result as CompactionResult<Request>); // no failure
        rows.push({ contextWindow, truth, name, calls, refused, left: omitted?.items ?? 0, cut: omitted?.tokens ?? 0, failure });
        expect([name, contextWindow, truth, failure]).toEqual([name, contextWindow, truth, undefined]);
        expect([name, contextWindow, refused <= (truth === 1 ? 0 : 2)]).toEqual([name, contextWindow, true]);
      }
  console.log(provider.adapter.name);
  console.table(rows);
  for (const { name, left, truth } of rows) if (name === 'chunked' && truth === 1) expect(left).toBe(0);
}
