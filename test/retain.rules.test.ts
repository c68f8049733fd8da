import { describe, expect, it } from 'vitest';
import { type AnthropicMessage, type AnthropicRequest, anthropicMessages } from '../src/adapters/anthropic.ts';
import type { ChatMessage, ChatReply, ChatRequest } from '../src/adapters/openai-chat.ts';
import { openaiChat } from '../src/adapters/openai-chat.ts';
import { contextBudget } from '../src/budget/context-budget.ts';
import { createCompactor } from '../src/compactor.ts';
import { AutoCompactingLoop } from '../src/loop.ts';
import type { RetainOptions } from '../src/options.ts';
import { hierarchicalSummarizer } from '../src/summarize/hierarchical.ts';
import { anthropicKit } from '../src/testing/kits/anthropic.ts';
import { openaiChatKit } from '../src/testing/kits/openai-chat.ts';
import { freezeDeep } from './support/freeze.ts';
import { createWrapper, eventOf, lifecycleOf, type WorldOptions } from './support/harness.ts';
import { block } from './support/report-shapes.ts';
import { countTokens, goodSummary, says, summarizes, toolTurn } from './support/scripted-model.ts';

const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });
const budget = { contextWindow: 8192, budget: { threshold: 900, countTokens } };
const tail = { min: 0, max: 400 };

async function prepare(messages: readonly ChatMessage[], retain: RetainOptions, options: WorldOptions = {}) {
  const tools = messages.some(({ role }) => role === 'tool') ? { tools: openaiChatKit.request([]).tools } : {};
  const request: ChatRequest = freezeDeep({ model: 'gpt-5', ...tools, messages: [...messages] });
  const world = createWrapper({ ...budget, retain, request, ...options });
  const sent = await world.create.compactor.prepare(request);
  expect(openaiChatKit.validate(sent)).toEqual([]);
  return { ...world, request, sent: sent.messages };
}

/** The summary in its wrapper, without what the user said last. */
const wrapped = (): ChatMessage => user(expect.stringMatching(/^<compacted_context>(?!.*last_user_message)/s));

describe('what stays beside a summary', () => {
  const old = [user('Look at the build.'), assistant('x'.repeat(3600))];

  it('V23: without a tail all is summarized; with one all before it', async () => {
    const messages = [...old, user('Mend it.'), assistant('Mended.'), user('Go on.')];
    const without = await prepare(messages, {});
    expect([without.sent.length, without.stored[0]?.covered]).toEqual([1, messages.length]);
    const kept = await prepare(messages, { tail });
    expect(kept.sent).toEqual([wrapped(), ...messages.slice(2)]);
    expect(kept.stored[0]?.covered).toBe(2);
  });

  it('V42: summary, then retained messages, then the tail', async () => {
    const messages = [user('It failed: look.'), ...old.slice(1), user('Mend it.'), assistant('Mended.'), user('Go on.')];
    const { sent } = await prepare(messages, { tail: { min: 0, max: 20 }, messages: { tokens: 40, count: 1 } });
    expect(sent).toEqual([wrapped(), messages[0], ...messages.slice(2)]);
  });

  it('V43: what the assistant said before the first word of the user is in no tail; a small share of messages takes nothing from it', async () => {
    const messages = [assistant('w'.repeat(3600)), user('Begin.'), assistant('Working.'), user('Second.')];
    const { sent } = await prepare(messages, { tail, messages: { tokens: 1, count: 1 } });
    expect(sent).toEqual([wrapped(), ...messages.slice(1)]);
  });

  it('V48: the abstract and the summary stand in one replacement, before retained messages and the tail', async () => {
    const messages = [user('It failed: look.'), ...old.slice(1), user('Mend it.'), assistant('Mended.'), user('Go on.')];
    const { sent } = await prepare(
      messages,
      { tail: { min: 0, max: 20 }, messages: { tokens: 40, count: 1 } },
      { summary: { summarizer: hierarchicalSummarizer() }, steps: [summarizes('It began.'), summarizes()] },
    );
    expect(sent).toEqual([wrapped(), messages[0], ...messages.slice(2)]);
    expect(sent[0]?.content).toMatch(/Earlier context \(abstract\):\nIt began\.\n\nRecent context \(summary\):\n## Goal/);
  });

  it('V50: everything together is under the threshold, whatever is asked for', async () => {
    const turns = Array.from({ length: 30 }, (_, index) => [user(`Fix number ${index}.`), assistant('y'.repeat(300))]).flat();
    for (const max of [0, 50, 200, 899, 5000])
      for (const tokens of [0, 50, 5000]) {
        const { events } = await prepare([...turns, user('Go on.')], {
          tail: { ratio: 1, min: 0, max },
          messages: { tokens, count: 100 },
        });
        expect(lifecycleOf(events)).toEqual(['started', 'applied']);
        expect(eventOf(events, 'auto_compaction_applied').tokensAfter).toBeLessThan(900);
      }
  });

  it('V51: a call that nobody answered takes nothing along that comes after it', async () => {
    const [dead] = toolTurn('dead', '');
    const rest = [dead!, assistant('Interrupted.'), user('Go on.'), assistant('Going on.'), user('And?')];
    const { sent } = await prepare([...old, user('Mend it.'), ...rest], { tail });
    expect(JSON.stringify(sent)).toContain('Going on.');
    expect(sent.at(-1)).toEqual(user('And?'));
  });

  it('makes way where the newest turn has a call without a result and is longer than it may be', async () => {
    const [dead] = toolTurn('dead', '');
    const work = Array.from({ length: 8 }, (_, index) => toolTurn(`c${index}`, 'y'.repeat(1200))).flat();
    const messages = [user('First.'), assistant('x'.repeat(800)), user('Work on it.'), dead!, assistant('Going on.'), ...work];
    const { sent, events } = await prepare(messages, { tail });
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(eventOf(events, 'auto_compaction_applied').tokensAfter).toBeLessThan(900);
    expect(JSON.stringify(sent).split('Work on it.')).toHaveLength(2);
  });

  it('makes way where hardly anything would be replaced beside it', async () => {
    // Beside the second turn a summary of 550 tokens would stand for 610.
    const messages = [
      user('First.'),
      assistant('x'.repeat(2400)),
      user('Work on it.'),
      assistant('y'.repeat(5520)),
      user('Go on.'),
    ];
    const { sent, events } = await prepare(
      messages,
      { tail: { ratio: 1, min: 0, max: 5000 } },
      {
        contextWindow: 40_000,
        budget: { threshold: 2000, countTokens },
        summary: { summarizer: async () => ({ text: `## Goal\n${'s'.repeat(2060)}` }) },
      },
    );
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(sent.length).toBeLessThan(3);
    expect(JSON.stringify(sent)).toContain('Go on.');
  });

  it('2.19-4: is not told twice: the model is asked not to retell the newest turns, where some are to stay', async () => {
    const messages = [...old, user('Mend it.'), assistant('Mended.'), user('Go on.')];
    const askedWith = async (retain: RetainOptions, options: WorldOptions = {}): Promise<string> => {
      const { model } = await prepare(messages, retain, options);
      return String(model.summaries[0]?.request.messages.at(-1)?.content);
    };
    expect(await askedWith({ tail })).toContain('The newest turns will stay word for word');
    expect(await askedWith({})).not.toContain('The newest turns');
    expect(await askedWith({ tail }, { summary: { replacePrompt: 'Be brief.' } })).toBe('Be brief.');
  });
});

describe('calls whose reasoning is gone', () => {
  const thinking = (words: string) => block({ type: 'thinking', thinking: words, signature: `signed ${words}` });
  const call = (id: string) => block({ type: 'tool_use', id, name: 'read', input: { path: 'a.ts' } });
  const result = (id: string): AnthropicMessage => ({
    role: 'user',
    content: [block({ type: 'tool_result', tool_use_id: id, content: 'Found.' })],
  });
  const asks = (content: string): AnthropicMessage => ({ role: 'user', content });
  const reasons = (id: string): AnthropicMessage => ({ role: 'assistant', content: [thinking(id), call(id)] });
  const done: AnthropicMessage = { role: 'assistant', content: [block({ type: 'text', text: 'Done.' })] };
  const long: AnthropicMessage = { role: 'assistant', content: 'a'.repeat(4000) };
  const history = [asks('Begin.'), long, asks('It failed: read it.'), reasons('c1'), result('c1'), done];

  async function rebuild(messages: AnthropicMessage[], retain: RetainOptions) {
    const claude = {
      ...anthropicKit.request(freezeDeep(messages), { model: 'claude-sonnet-4-5', outputCap: 4000 }),
      thinking: { type: 'enabled', budget_tokens: 1024 },
    } as AnthropicRequest; // the adapter's type names no fields of `thinking`
    const compactor = createCompactor({
      ...budget,
      adapter: anthropicMessages(),
      retain,
      summary: { summarizer: async () => ({ text: goodSummary }) },
    });
    const rebuilt = await compactor.prepare(claude);
    expect(rebuilt).not.toBe(claude);
    expect(anthropicKit.validate(rebuilt)).toEqual([]);
    return JSON.stringify(rebuilt.messages);
  }

  it('are not retained where the loop that comes next would begin with them', async () => {
    for (const messages of [
      [...history, asks('Again.'), reasons('c2'), result('c2')],
      [...history, asks('Again.')],
    ])
      expect(await rebuild(messages, { messages: {} })).not.toContain('tool_use');
    const words = await rebuild([...history, asks('Again.'), reasons('c2'), result('c2')], { tail: {}, messages: {} });
    expect(words).toContain('It failed: read it.');
    expect(words).not.toContain('tool_use');
  });

  it('are retained in front of a tail, which begins with the user', async () => {
    const messages = [...history, asks('Well?'), done, asks('Again.')];
    expect(await rebuild(messages, { tail: { min: 0, max: 20 }, messages: {} })).toContain('tool_use');
  });

  it('stay where reasoning stays', async () => {
    expect(await rebuild([...history, asks('Again.')], { messages: {}, reasoning: 'keep' })).toContain('signed c1');
  });
});

describe.each([8192, 16_000, 32_000])('in 200 turns in a window of %i tokens', (contextWindow) => {
  it.each<[string, RetainOptions]>([
    ['messages', { messages: {} }],
    ['a tail', { tail: {} }],
    ['both', { tail: {}, messages: {} }],
  ])('V15: what stays leaves room for the work: summaries with %s stay in proportion to growth', async (_name, retain) => {
    const { inputBudget, threshold } = contextBudget({ contextWindow });
    const cap = Math.floor(inputBudget / 5);
    let summaries = 0;
    let grown = 0;
    let reply: ChatReply = says('Done.');
    const write = (size: number): string => {
      grown += size / 4;
      return `${grown} ${'lorem ipsum '.repeat(size / 12)}`;
    };
    const loop = new AutoCompactingLoop<ChatRequest, ChatMessage, ChatReply>(
      { model: 'gpt-5', messages: [{ role: 'system', content: 'Be exact.' }] },
      {
        adapter: openaiChat(),
        contextWindow,
        budget: { countTokens },
        retain,
        async send(_request, { purpose }) {
          if (purpose === 'turn') return reply;
          summaries++;
          return says(`## Goal\n${'s'.repeat(cap * 2)}`);
        },
      },
    );
    for (let turn = 0; turn < 200; turn++) {
      if (turn % 5 === 0) loop.append([user(write(400))]);
      const [calling, result] = toolTurn(`c${turn}`, write(4000));
      reply = { ...says(write(240), 'tool_calls', { tool_calls: Reflect.get(calling ?? {}, 'tool_calls') }), usage: null };
      await loop.appendReply(await loop.send());
      loop.append([result!]);
    }
    const room = threshold - 100 - cap;
    expect(summaries).toBeGreaterThan(1);
    expect(summaries).toBeLessThanOrEqual(1 + (1.2 * grown) / room);
  });
});
