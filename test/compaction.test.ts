import { expect, it } from 'vitest';
import { type ChatMessage, openaiChat } from '../src/adapters/openai-chat.ts';
import { createCompactor } from '../src/compactor.ts';
import type { CompactionEvent } from '../src/events.ts';
import type { SummaryTask } from '../src/summarize/summarizer.ts';

const countTokens = (text: string): number => Math.ceil(text.length / 4);
const contextWindow = 8192; // the input budget is 4,096 tokens

/** A request of 2,500 tokens that the user said last and 1,400 that a tool returned, and what became of its compaction. */
async function compactTo(summaryTokens: number): Promise<{ ended: string; room: number; estimate: number }> {
  const events: CompactionEvent[] = [];
  let room = Number.NaN;
  const compactor = createCompactor({
    adapter: openaiChat(),
    contextWindow,
    budget: { countTokens },
    summary: {
      summarizer: async ({ roomForOutput }: Pick<SummaryTask<unknown, unknown, unknown>, 'roomForOutput'>) => {
        room = roomForOutput;
        return { text: 'abc '.repeat(summaryTokens).trim() };
      },
    },
    onEvent: (event) => events.push(event),
  });
  const messages: ChatMessage[] = [{ role: 'user', content: 'u'.repeat(10_000) }, toolCall, toolResult];
  await compactor.prepare({ model: 'gpt-5', messages });
  const [start, end] = events;
  return {
    ended: end?.type === 'auto_compaction_failed' ? end.error.code : String(end?.type),
    room,
    estimate: start?.type === 'auto_compaction_started' ? start.estimate.tokens : Number.NaN,
  };
}

const toolCall: ChatMessage & { tool_calls: object[] } = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }],
};

const toolResult: ChatMessage & { tool_call_id: string } = { role: 'tool', tool_call_id: 'c1', content: 'r'.repeat(5600) };

it('asks for a saving of a tenth of what may go, whatever stays word for word beside it', async () => {
  expect(await compactTo(1100)).toMatchObject({ ended: 'auto_compaction_applied' }); // a fifth of 1,400, but less than a tenth of 3,900
  expect(await compactTo(1250)).toMatchObject({ ended: 'not-smaller' });
});

it('leaves room beside the summary for an estimate that is a tenth too low', async () => {
  const { room, estimate } = await compactTo(100);
  expect(estimate).toBeGreaterThan(3900);
  expect(room).toBeGreaterThan(3000);
  expect(room + 1.1 * estimate).toBeLessThan(contextWindow);
});
