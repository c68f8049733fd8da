import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProviderAdapter } from '../src/adapters/adapter.ts';
import { createItemReader } from '../src/history/reading.ts';
import type { Message } from '../src/message.ts';
import { readReplacement } from '../src/prompt/replacement.ts';
import type { Summarizer } from '../src/summarize/summarizer.ts';
import { withAutoCompaction } from '../src/wrap.ts';
import { countTokens } from './support/scripted-model.ts';
import { chatKit, claudeKit, type TalkKit } from './support/talk-kits.ts';

/** Every message says a number of its own; a summary lists the numbers of what it stands for. */
const numbersIn = (text: string): number[] => [...text.matchAll(/#(\d+)/g)].map(([, number]) => Number(number));

function numbersOf(messages: readonly Message[]): number[] {
  return messages.flatMap((message) => {
    const replacement = readReplacement(message);
    if (replacement) return numbersIn(replacement.summary);
    return message.parts.flatMap((part) => {
      if (part.type === 'text') return numbersIn(part.text);
      return part.type === 'toolResult'
        ? numbersIn(part.content.map((inner) => (inner.type === 'text' ? inner.text : '')).join())
        : [];
    });
  });
}

const listing: Summarizer = async ({ messages }) => ({
  text: `Seen: ${numbersOf(messages)
    .map((number) => `#${number}`)
    .join(' ')}.`,
});

const action = fc.record({
  talk: fc.nat(3),
  act: fc.constantFrom('go on', 'go on', 'go on', 'go on', 'rewind', 'edit', 'fork', 'splice', 'draft', 'title'),
  at: fc.nat(30),
  cloned: fc.boolean(),
});

const actionList = fc.array(action, { minLength: 10, maxLength: 40 });

interface Talk<Item> {
  name: string;
  items: Item[];
}

async function run<Request, Item, Reply>(
  kit: TalkKit<Request, Item, Reply>,
  actions: readonly { talk: number; act: string; at: number; cloned: boolean }[],
  naming: 'none' | 'own' | 'shared',
): Promise<{ turns: number; summaries: number }> {
  const adapter: ProviderAdapter<Request, Item, Reply> = kit.adapter;
  const read = createItemReader(adapter);
  const messagesOf = (request: Request): Message[] => adapter.items(request).flatMap((item) => read(item).messages);
  let number = 0;
  let sent: Request | undefined;
  const counts = { turns: 0, summaries: 0 };
  const create = withAutoCompaction(
    async (request: Request) => {
      sent = request;
      counts.turns++;
      return kit.reply('Fine.', countTokens(JSON.stringify(request)));
    },
    {
      adapter,
      contextWindow: 10_000,
      budget: { threshold: 600, countTokens },
      summary: {
        summarizer: (task) => {
          counts.summaries++;
          return listing(task);
        },
      },
    },
  );
  const say = (): Item => kit.user(`Question #${number++}. ${'Please. '.repeat(10)}`);
  const turn = (): Item[] => {
    const id = `call_${number}`;
    return [kit.call(id), kit.result(id, `Result #${number++}. ${'data '.repeat(120)}`)];
  };
  const start = (name: string): Talk<Item> => ({ name, items: [kit.user('Hello, all of you.')] });
  const talks = ['a', 'b', 'c', 'd'].map(start);

  for (const { talk: index, act, at, cloned } of actions) {
    const talk = talks[index]!;
    // The first message stays, and a call never loses its result.
    const cut = Math.min(1 + 2 * at, talk.items.length);
    if (act === 'rewind') talk.items = [...talk.items.slice(0, cut), say(), ...turn()];
    else if (act === 'edit')
      talk.items = talk.items.map((item, place) => (place === cut ? kit.assistant(`Edited #${number++}.`) : item));
    else if (act === 'fork')
      talks[(index + 1) % talks.length] = { name: `${talk.name}${number++}`, items: [...talk.items, say(), ...turn()] };
    else talk.items = [...talk.items, ...turn(), ...(at % 4 === 0 ? [kit.assistant('So far.'), say()] : [])];

    const request = kit.request(`It is step ${number}.`, cloned ? structuredClone(talk.items) : talk.items);
    const conversation = { none: undefined, own: talk.name, shared: 'one' }[naming];
    if (act === 'draft') {
      create.compactor.estimate(kit.request('', [...talk.items, say()]), { conversation });
      await create.compactor.plan(kit.request('', [...talk.items, say()]), { conversation });
    }
    await create(request, { conversation, oneShot: act === 'title' });
    const own = numbersOf(messagesOf(request));
    // Whatever stands for what: every message is there once, in its order, and none of another conversation.
    expect(numbersOf(messagesOf(sent!))).toEqual(own);
    if (act === 'splice') talk.items = [...adapter.items(sent!).filter((item) => read(item).messages[0]?.role !== 'system')];
  }
  return counts;
}

describe('whatever callers do with their histories', () => {
  async function check<Request, Item, Reply>(kit: TalkKit<Request, Item, Reply>): Promise<void> {
    const total = { turns: 0, summaries: 0 };
    await fc.assert(
      fc.asyncProperty(actionList, fc.constantFrom('none', 'own', 'shared'), async (actions, naming) => {
        const { turns, summaries } = await run(kit, actions, naming);
        total.turns += turns;
        total.summaries += summaries;
      }),
      { numRuns: 90 },
    );
    expect(total.summaries).toBeGreaterThan(total.turns / 20); // it is about compacted conversations
    expect(total.summaries).toBeLessThan(total.turns / 2);
  }

  it('each request says what its own history says, once and in order: Chat Completions', () => check(chatKit));
  it('each request says what its own history says, once and in order: Anthropic Messages', () => check(claudeKit));
});
