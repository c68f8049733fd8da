import { describe, expect, it } from 'vitest';
import { loadTokenCounter } from '../src/budget/tokenizer.ts';
import { type Message, textOf } from '../src/message.ts';
import { extractSummary } from '../src/summarize/extractive.ts';
import type { ProviderKit } from '../src/testing/provider-kit.ts';
import { providerKits } from '../src/testing/provider-kits.ts';
import { withAutoCompaction } from '../src/wrap.ts';
import { type NeutralSteps, readSteps } from './support/transcripts/neutral-steps.ts';
import { loadConversations } from './support/transcripts.ts';

const contextWindow = 16_384;
const conversations = loadConversations();
const countTokens = await loadTokenCounter();

interface Run {
  requests: number;
  rebuilt: number;
  compactions: number;
  problems: string[];
}

/** Plays a conversation through a provider's shape, request by request as it grew, and checks all that is sent. */
async function run<Request, Item, Reply>(kit: ProviderKit<Request, Item, Reply>, { system, steps }: NeutralSteps): Promise<Run> {
  const { adapter } = kit;
  const result: Run = { requests: 0, rebuilt: 0, compactions: 0, problems: [] };
  const note = (problem: string) => result.problems.push(`request ${result.requests}: ${problem}`);
  const refused = (request: Request) => kit.validate(request).map(({ rule, path, message }) => `${rule} at ${path}: ${message}`);
  let given: Request;
  const create = withAutoCompaction(
    async (request: Request, { purpose }): Promise<Reply> => {
      if (purpose === 'summary') {
        for (const problem of refused(request)) note(`the summary request: ${problem}`);
        const asked = adapter.items(request).slice(0, -1).flatMap(adapter.readItem);
        return kit.reply({ text: extractSummary(asked, { maxTokens: 800, countTokens }) });
      }
      if (request === given) return kit.reply({ text: 'As recorded.' });
      result.rebuilt++;
      for (const problem of refused(request)) note(problem);
      const said = adapter.items(request).flatMap(adapter.readItem);
      const newest = textOf(
        steps
          .flatMap(({ before }) => before)
          .slice(0, seen)
          .findLast(({ role }) => role === 'user') ?? empty,
      ).trim();
      if (!said.some((message) => holds(message, newest)))
        note(`the newest words of the user are not in it: ${newest.slice(0, 80)}`);
      // What came after the compaction is kept as the very same objects, except where turns are merged right behind the replacement.
      const kept = new Set<Item>(items);
      const others = adapter.items(request).filter((item) => !kept.has(item)).length;
      if (others > 2 + leading) note(`${others} items are not the caller's own`);
      return kit.reply({ text: 'As recorded.' });
    },
    {
      adapter,
      contextWindow,
      onEvent: (event) => {
        if (event.type === 'auto_compaction_applied') result.compactions++;
      },
    },
  );
  const write = (messages: readonly Message[]) => messages.flatMap((message) => adapter.writeMessage(message));
  const leading =
    adapter.items(kit.request(write([{ role: 'user', parts: [{ type: 'text', text: 'x' }] }]), { system })).length - 1;
  const items: Item[] = [];
  let seen = 0;
  for (const { before, reply } of steps) {
    items.push(...write(before));
    seen += before.length;
    given = kit.request([...items], { system, outputCap: 1000 });
    await create(given, { conversation: 'recorded' });
    result.requests++;
    items.push(...write(reply));
  }
  return result;
}

const empty: Message = { role: 'user', parts: [] };

function holds({ role, parts }: Message, newest: string): boolean {
  return role === 'user' && textOf({ role, parts }).includes(newest);
}

// The recordings are not part of the project: where they are absent there is nothing to run, and the count says so.
describe.skipIf(conversations.length === 0)(`${conversations.length} recorded conversations in each shape, as they grew`, () => {
  const recorded = conversations.map((conversation) => ({ name: conversation.name, ...readSteps(conversation) }));
  for (const kit of Object.values(providerKits))
    it(`${kit.name}: what is rebuilt is valid and true to the original`, { timeout: 300_000 }, async () => {
      const total: Run = { requests: 0, rebuilt: 0, compactions: 0, problems: [] };
      for (const conversation of recorded) {
        // Each kit is sound in itself; a list of them has no common type.
        const { requests, rebuilt, compactions, problems } = await run(kit as ProviderKit<object, object, unknown>, conversation);
        total.requests += requests;
        total.rebuilt += rebuilt;
        total.compactions += compactions;
        total.problems.push(...problems.map((problem) => `${conversation.name}, ${problem}`));
      }
      console.log(`${kit.name}: ${total.requests} requests, ${total.rebuilt} rebuilt, ${total.compactions} compactions`);
      expect(total.problems).toEqual([]);
      expect(total.compactions).toBeGreaterThan(20);
    });
});
