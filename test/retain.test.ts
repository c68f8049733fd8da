import { describe, expect, it } from 'vitest';
import { type AnthropicMessage, type AnthropicRequest, anthropicMessages } from '../src/adapters/anthropic.ts';
import type { ChatMessage, ChatRequest } from '../src/adapters/openai-chat.ts';
import { createCompactor } from '../src/compactor.ts';
import { isCompactionError } from '../src/errors.ts';
import type { RetainOptions } from '../src/options.ts';
import { anthropicKit } from '../src/testing/kits/anthropic.ts';
import { freezeDeep } from './support/freeze.ts';
import { createLoop, createWrapper, eventOf, isCompacted, lifecycleOf } from './support/harness.ts';
import { anthropicResult, block } from './support/report-shapes.ts';
import { countTokens, goodSummary, summarizes, toolTurn } from './support/scripted-model.ts';

const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });
const first = [user('Look at the failing build.'), ...toolTurn('c1', 'x'.repeat(3200)), assistant('It fails in the tests.')];
const second = [user('Then mend it.'), ...toolTurn('c2', 'y'.repeat(400)), assistant('Mended.')];
const third = [user('Run it once more.'), ...toolTurn('c3', 'z'.repeat(200))];
const talk = freezeDeep([...first, ...second, ...third]);
const request: ChatRequest = { model: 'gpt-5', messages: [{ role: 'system', content: 'Be exact.' }, ...talk] };
/** The talk has about 1,050 tokens. */
const budget = { contextWindow: 8192, budget: { threshold: 900, countTokens } };

async function prepare(retain: RetainOptions, messages: readonly ChatMessage[] = talk, summary = goodSummary) {
  const world = createWrapper({ ...budget, retain, request, steps: [summarizes(summary)] });
  const prepared = await world.create.compactor.prepare({ ...request, messages: [...messages] });
  return { ...world, prepared: prepared.messages, text: JSON.stringify(prepared.messages) };
}

describe('the tail', () => {
  it('is the newest whole turns, the very same items, behind the summary', async () => {
    const { prepared, events, stored } = await prepare({ tail: { min: 0, max: 300 } });
    expect(prepared).toHaveLength(1 + second.length + third.length);
    for (const [index, item] of [...second, ...third].entries()) expect(prepared[1 + index]).toBe(item);
    // What the user said last is in the tail, and not twice.
    expect(prepared[0]).toEqual(user(expect.stringMatching(/^<compacted_context>(?!.*last_user_message)/s)));
    expect(stored[0]).toMatchObject({ covered: first.length, seen: talk.length, replacement: [{ role: 'user' }] });
    expect(stored[0]?.kept.map(({ role }) => role)).toEqual([...second, ...third].map(({ role }) => role));
    expect(stored[0]?.items).toEqual(prepared); // and a copy
    for (const item of stored[0]?.items ?? []) expect(prepared).not.toContain(item);
    expect(eventOf(events, 'auto_compaction_applied').replacement).toHaveLength(1);
  });

  it('makes way where it would bring the request back to its threshold', async () => {
    const { prepared, events, text } = await prepare({ tail: { min: 0, max: 300 } }, talk, `${goodSummary}${'s'.repeat(2600)}`);
    expect(prepared.filter((item) => talk.includes(item))).toEqual(third);
    expect(text).not.toContain('Then mend it.');
    expect(eventOf(events, 'auto_compaction_applied').tokensAfter).toBeLessThan(900);
  });

  it('B087: is the beginnings of the newest turn where that alone is larger than the window, with its calls and results together', async () => {
    const wordy = `Mind: ${'all of this. '.repeat(40)}`;
    const large = [...first, user(wordy), ...toolTurn('c9', 'q'.repeat(100_000))];
    const { prepared, text, events } = await prepare({ tail: { min: 0, max: 400 } }, large);
    expect(text.split(wordy)).toHaveLength(2);
    expect(prepared.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(prepared[2]).toMatchObject({
      tool_call_id: 'c9',
      content: expect.stringMatching(/^q{100,800}\n\[The rest was left out\.]$/),
    });
    expect(eventOf(events, 'auto_compaction_applied').tokensAfter).toBeLessThan(900);
  });

  it('is not summarized twice: the next compaction keeps the newest turns of then', async () => {
    const retain = { tail: { min: 0, max: 300 } };
    const { create, model, events } = createWrapper({ ...budget, retain, request });
    await create.compactor.prepare(request);
    const grown = [
      ...talk,
      assistant('Green.'),
      user('Now the docs.'),
      ...toolTurn('c4', 'd'.repeat(2600)),
      assistant('Written.'),
      user('Ship.'),
    ];
    const { messages } = await create.compactor.prepare({ ...request, messages: grown });
    expect(lifecycleOf(events)).toEqual(['started', 'applied', 'started', 'applied']);
    const asked = JSON.stringify(model.summaries[1]?.request.messages);
    for (const once of ['Then mend it.', 'Run it once more.', 'Now the docs.', 'Ship.'])
      expect(asked.split(once)).toHaveLength(2);
    expect(messages).toHaveLength(2);
    expect(messages[1]).toBe(grown.at(-1));
    expect(isCompacted({ ...request, messages })).toBe(true);
  });

  it('ends up in the history of a loop, and goes through a snapshot', async () => {
    const { loop, stored } = createLoop({
      ...budget,
      retain: { tail: { min: 0, max: 300 }, messages: { tokens: 50, count: 1 } },
      request,
    });
    const sent = await loop.prepare();
    expect(loop.request).toEqual(sent);
    expect(sent.messages.slice(-third.length)).toEqual(third);
    const commit = stored[0];
    if (!commit) throw new Error('Expected a commit.');
    const wrapper = createWrapper({ ...budget, retain: { tail: { min: 0, max: 300 } }, request });
    const apart = createWrapper({
      ...budget,
      retain: { tail: { min: 0, max: 300 }, messages: { tokens: 50, count: 1 } },
      request,
    });
    const rebuilt = await apart.create.compactor.prepare(request);
    wrapper.create.compactor.restore(JSON.parse(JSON.stringify(apart.stored[0]?.snapshot)));
    expect(await wrapper.create.compactor.prepare(request)).toEqual(rebuilt);
    expect(wrapper.events).toEqual([]);
  });

  it('stays beside a summary that the user asked for', async () => {
    const { loop, stored } = createLoop({ ...budget, retain: { tail: { min: 0, max: 300 } }, request });
    const result = await loop.compact();
    expect(result.replacement).toEqual([{ role: 'user', parts: [{ type: 'text', text: goodSummary }] }]);
    expect(loop.request.messages).toEqual([{ role: 'system', content: 'Be exact.' }, user(goodSummary), ...second, ...third]);
    expect(stored[0]?.covered).toBe(1 + first.length);
  });

  it('keeps a call that still waits for its result, and takes the result in', async () => {
    const [open, result] = toolTurn('c5', 'Here.');
    if (!open || !result) throw new Error('Expected a call and its result.');
    const { loop } = createLoop({
      ...budget,
      retain: { tail: { min: 0, max: 300 } },
      request: { ...request, messages: [...talk, assistant('Ran.'), user('Again.'), open] },
    });
    await loop.compact();
    loop.append([result]);
    expect(loop.request.messages.slice(-2)).toEqual([open, result]);
  });

  it('is not there where it is not asked for', async () => {
    const { prepared } = await prepare({});
    expect(prepared).toHaveLength(1);
  });
});

describe('retained messages', () => {
  it('are the words of the user that matter most, then calls with their results, in their order, between summary and tail', async () => {
    const { prepared } = await prepare({ tail: { min: 0, max: 90 }, messages: { tokens: 200, count: 4 } });
    expect(prepared.slice(1)).toEqual([first[0], second[0], second[1], second[2], ...third]);
    expect(prepared[1]).toBe(talk[0]);
  });

  it('make way before they fill the room that was gained', async () => {
    const { events } = await prepare({ messages: { tokens: 20_000, count: 100 } });
    const { tokensAfter } = eventOf(events, 'auto_compaction_applied');
    expect(tokensAfter).toBeLessThan(900);
  });

  it('are none of what the replacement holds anyway', async () => {
    const { text } = await prepare({ messages: { tokens: 300, count: 9 } });
    expect(text.split('Run it once more.')).toHaveLength(2);
  });
});

describe('the newest message of the user', () => {
  it('is left to the summary where that is asked for', async () => {
    const { prepared, text } = await prepare({ latestUserMessage: false });
    expect(prepared).toHaveLength(1);
    expect(text).not.toContain('Run it once more.');
  });
});

describe('reasoning', () => {
  const thinking = (text: string) => ({ type: 'thinking', thinking: text, signature: `signed ${text}` });
  const says = (...content: { type: string }[]): AnthropicMessage => ({
    role: 'assistant',
    content: content.map((part) => block(part)),
  });
  const asks = (content: string): AnthropicMessage => ({ role: 'user', content });
  const calls = (id: string) => ({ type: 'tool_use', id, name: 'read', input: { path: 'a.ts' } });
  const returns = (id: string): AnthropicMessage => ({ role: 'user', content: [anthropicResult(id, 'Text.')] });
  const text = (words: string) => ({ type: 'text', text: words });
  const closed = [
    asks('a'.repeat(4000)),
    says(text('Good.')),
    asks('Read it.'),
    says(thinking('t1'), calls('c1')),
    returns('c1'),
    says(thinking('t2'), text('Read.')),
    asks('Well?'),
  ];
  const open = [...closed, says(thinking('t3'), calls('c3')), returns('c3')];

  async function rebuild(messages: AnthropicMessage[], reasoning: RetainOptions['reasoning']) {
    const claude: AnthropicRequest = {
      ...anthropicKit.request(freezeDeep(messages), { model: 'claude-sonnet-4-5', outputCap: 4000 }),
      thinking: { type: 'enabled', budget_tokens: 1024 },
    } as AnthropicRequest;
    const compactor = createCompactor({
      ...budget,
      adapter: anthropicMessages(),
      retain: { tail: {}, reasoning },
      summary: { summarizer: async () => ({ text: goodSummary }) },
    });
    const rebuilt = await compactor.prepare(claude);
    expect(anthropicKit.validate(rebuilt)).toEqual([]);
    return { rebuilt, items: rebuilt.messages, said: JSON.stringify(rebuilt.messages) };
  }

  it('goes out of what is kept, for it is bound to what stood before', async () => {
    const { said, items } = await rebuild(closed, 'strip');
    expect(said).not.toContain('signed');
    expect(said).toContain('tool_use');
    expect(items.at(-1)).toBe(closed.at(-1));
  });

  it('of a loop that is open may be neither there nor gone: none of the loop is kept', async () => {
    const { said, items } = await rebuild(open, 'strip');
    expect(said).not.toContain('signed');
    expect(said).not.toContain('tool_use');
    expect(said.split('Well?')).toHaveLength(2);
    expect(items).toHaveLength(1);
  });

  it('stays where that is asked for, an open loop with it', async () => {
    const { items } = await rebuild(open, 'keep');
    expect(items.slice(-3)).toEqual(open.slice(-3));
    for (const item of open.slice(-3)) expect(items).toContain(item);
  });

  it('stays, and the provider is told to drop what no longer fits', async () => {
    const { items, rebuilt } = await rebuild(open, 'drop-block');
    expect(items.slice(-3)).toEqual(open.slice(-3));
    expect(rebuilt).toMatchObject({ thinking: { type: 'enabled', block_binding: { prefix_mismatch_behavior: 'drop_block' } } });
  });

  it('can be dropped only by providers that do', () => {
    let thrown: unknown;
    try {
      createWrapper({ retain: { reasoning: 'drop-block' } });
    } catch (error) {
      thrown = error;
    }
    expect(isCompactionError(thrown) && thrown.code).toBe('invalid-options');
  });

  it('goes out of what was said while the summary was written by hand', async () => {
    const compactor = createCompactor({
      ...budget,
      adapter: anthropicMessages(),
      summary: {
        summarizer: async () => {
          loop.append([says(thinking('late'), text('Late.'))]);
          return { text: goodSummary };
        },
      },
    });
    const loop = compactor.loop(anthropicKit.request(closed, {}));
    await loop.compact();
    expect(JSON.stringify(loop.request.messages)).toContain('Late.');
    expect(JSON.stringify(loop.request.messages)).not.toContain('signed');
  });
});
