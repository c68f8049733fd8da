import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChatRequest, openaiChat } from '../src/adapters/openai-chat.ts';
import { createCompactor } from '../src/compactor.ts';
import { isCompactionError } from '../src/errors.ts';
import type { CompactionEvent } from '../src/events.ts';
import { chunkedSummarizer, firstOf, hierarchicalSummarizer, isolatedSummarizer, keepLast } from '../src/strategies.ts';
import { extractiveSummarizer } from '../src/summarize/extractive.ts';
import { forkSummarizer } from '../src/summarize/fork.ts';
import type { Summarizer } from '../src/summarize/summarizer.ts';
import { chooseFromList } from '../src/testing/choose.ts';
import { randomConversation } from '../src/testing/conversation.ts';
import { openaiChatKit } from '../src/testing/kits/openai-chat.ts';
import { scriptedModel } from '../src/testing/scripted-model.ts';

const countTokens = (text: string): number => Math.ceil(text.length / 4);
/** What a request with everything that a summarizer may try can cost; each piece of a conversation is a request of its own. */
const mostCalls = (pieces: number): number => 16 + pieces * 8;

const summarizers: Record<string, () => Summarizer> = {
  fork: forkSummarizer,
  isolated: () => isolatedSummarizer(),
  hierarchical: () => hierarchicalSummarizer(),
  chunked: chunkedSummarizer,
  'keep last': () => keepLast(6, forkSummarizer()),
  'first of two': () => firstOf(forkSummarizer(), extractiveSummarizer()),
  extractive: extractiveSummarizer,
};

const windows = fc.oneof(
  fc.integer({ min: 1, max: 10_000 }),
  fc.integer({ min: 1, max: 1_000_000 }),
  fc.constantFrom(1, 64, 4096, 4097, 8192, 1_000_000),
);

describe.each(Object.entries(summarizers))('%s', (name, summarizer) => {
  it('ends in any window: under its target, or with a typed error and nothing changed', async () => {
    const ended = new Map<string, number>();
    const choices = fc.array(fc.nat(9999), { maxLength: 60, size: 'max' });
    const input = fc.record({
      numbers: choices,
      window: windows,
      target: fc.double({ min: 0.05, max: 1, noNaN: true }),
      summary: fc.nat(30_000),
      long: fc.nat(60_000),
      retain: fc.boolean(),
      lies: fc.boolean(),
      byHand: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(input, async ({ numbers, window, target, summary, long, retain, lies, byHand }) => {
        const kit = openaiChatKit;
        const events: CompactionEvent[] = [];
        let calls = 0;
        const model = scriptedModel(kit, {
          summaries: Array.from({ length: 50 }, () => ({ text: `## Goal\n${'s'.repeat(summary)}` })),
        });
        const compactor = createCompactor({
          adapter: openaiChat(),
          contextWindow: window,
          budget: { countTokens },
          summary: { summarizer: summarizer(), target },
          retain: retain ? { tail: {}, messages: {} } : {},
          send: async (request: ChatRequest, context) => {
            calls++;
            const size = countTokens(JSON.stringify(request.messages));
            // The provider's real window may be a tenth of what it is believed to be.
            if (size > (lies ? window / 10 : window * 1.1)) throw kit.error('overflow');
            return model.send(request, context);
          },
          onEvent: (event) => void events.push(event),
        });
        const items = [
          ...randomConversation(kit, chooseFromList(numbers)),
          { role: 'user', content: 'Read it all.' },
          { role: 'assistant', content: 'w'.repeat(long) },
          { role: 'user', content: 'And now?' },
        ];
        const request = kit.request(items);
        const before = structuredClone(request);
        const most = Math.floor(compactor.estimate(request).inputBudget * target);
        const result = byHand
          ? await compactor.compact(request).then(
              ({ request: compacted }) => compacted,
              (error: unknown) => error,
            )
          : await compactor.prepare(request);
        expect(calls).toBeLessThanOrEqual(mostCalls(name === 'chunked' ? items.length + long / window : 0));
        expect(request).toEqual(before);
        const failed = result instanceof Error ? result : events.find((event) => event.type === 'auto_compaction_failed')?.error;
        const compacted = events.some((event) => event.type === 'auto_compaction_applied') || (byHand && !failed);
        const outcome = compacted ? 'compacted' : isCompactionError(failed) ? failed.code : failed ? 'untyped' : 'not due';
        ended.set(outcome, (ended.get(outcome) ?? 0) + 1);
        if (compacted) {
          expect(compactor.estimate(request).tokens).toBeLessThanOrEqual(most);
          expect(kit.validate(result as ChatRequest)).toEqual([]);
        } else if (byHand) expect(isCompactionError(failed)).toBe(true);
        else {
          expect(result).toBe(request);
          expect(failed === undefined || isCompactionError(failed)).toBe(true);
        }
      }),
      { numRuns: 400 },
    );
    expect(ended.get('compacted') ?? 0).toBeGreaterThan(20);
    expect(ended.get('untyped')).toBe(undefined);
  });
});
