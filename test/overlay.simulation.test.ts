import { describe, expect, it } from 'vitest';
import { withAutoCompaction } from '../src/wrap.ts';
import { countTokens, goodSummary } from './support/scripted-model.ts';
import { chatKit, claudeKit, type TalkKit } from './support/talk-kits.ts';

const threshold = 3000;

interface Counts {
  turns: number;
  summaries: number;
  /** Turns well over the threshold that went out all the same. */
  oversized: number;
  /** Turns that held something of another conversation. */
  mixed: number;
}

/** A wrapper around a model that answers everything, and what it was asked. */
function startModel<Request, Item, Reply>(kit: TalkKit<Request, Item, Reply>) {
  const counts: Counts = { turns: 0, summaries: 0, oversized: 0, mixed: 0 };
  const create = withAutoCompaction(
    async (request: Request, { purpose }) => {
      const sent = JSON.stringify(request);
      const tokens = countTokens(sent);
      const talks = ['alpha', 'beta'].filter((name) => sent.includes(name));
      if (purpose === 'summary') counts.summaries++;
      else {
        counts.turns++;
        if (tokens > threshold * 1.2) counts.oversized++;
        if (talks.length !== 1) counts.mixed++;
      }
      return kit.reply(purpose === 'summary' ? `${goodSummary}\nAll about ${talks.join(' and ')}.` : 'Fine.', tokens);
    },
    { adapter: kit.adapter, contextWindow: 10_000, budget: { threshold, countTokens } },
  );
  return { counts, create };
}

type Create<Request, Item, Reply> = ReturnType<typeof startModel<Request, Item, Reply>>['create'];

/** A client that keeps its history to itself: sends clones, moves its cache marker, dates its system prompt, and once rewinds. */
function startTalk<Request, Item, Reply>(kit: TalkKit<Request, Item, Reply>, name: string, rewindAt: number) {
  let items = [kit.user('Work through the files, one by one.')]; // both begin with the same words
  let step = 0;
  return async (create: Create<Request, Item, Reply>, conversation?: string): Promise<void> => {
    if (step === rewindAt) items = [...items.slice(0, -2), kit.user('No, take another file.')];
    const marked = items.map((item, index) => (index === items.length - 1 ? kit.mark(item) : item));
    const system = `You help with ${name}. It is 12:${String(step).padStart(2, '0')}.`;
    await create(structuredClone(kit.request(system, marked)), { conversation });
    const id = `${name}_${step}`;
    items.push(kit.call(id), kit.result(id, `${name} file ${step}: ${'content '.repeat(150)}`));
    if (step % 7 === 6) items.push(kit.assistant('That part is done.'), kit.user(`Go on with part ${step}.`));
    step++;
  };
}

const stepsEach = 30;

async function simulate<Request, Item, Reply>(
  kit: TalkKit<Request, Item, Reply>,
  names: readonly string[],
  named: boolean,
): Promise<Counts> {
  const { counts, create } = startModel(kit);
  const talks = names.map((name, index) => ({ name, next: startTalk(kit, name, 17 + index) }));
  for (let step = 0; step < stepsEach; step++) for (const { name, next } of talks) await next(create, named ? name : undefined);
  return counts;
}

describe.each(['without names', 'with names'] as const)('60 calls of two interleaved conversations, %s', (naming) => {
  async function compare<Request, Item, Reply>(kit: TalkKit<Request, Item, Reply>): Promise<void> {
    const named = naming === 'with names';
    const alpha = await simulate(kit, ['alpha'], named);
    const beta = await simulate(kit, ['beta'], named);
    const both = await simulate(kit, ['alpha', 'beta'], named);
    console.log(
      `${kit.adapter.name}, ${naming}: alone ${alpha.summaries} + ${beta.summaries} summaries, together ${both.summaries}`,
    );
    expect(both.turns).toBe(60);
    expect(alpha.summaries).toBeGreaterThanOrEqual(2);
    expect(both.summaries).toBe(alpha.summaries + beta.summaries);
    expect(alpha.summaries + beta.summaries).toBeLessThanOrEqual(10);
    expect(both).toMatchObject({ oversized: 0, mixed: 0 });
  }

  it('make no more summaries than each conversation alone: Chat Completions', () => compare(chatKit));
  it('make no more summaries than each conversation alone: Anthropic Messages', () => compare(claudeKit));
});
