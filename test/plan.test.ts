import { describe, expect, it } from 'vitest';
import { type AnthropicRequest, anthropicMessages } from '../src/adapters/anthropic.ts';
import { type ChatMessage, type ChatRequest, openaiChat } from '../src/adapters/openai-chat.ts';
import { type CheckOptions, type Compactor, createCompactor } from '../src/compactor.ts';
import type { CompactionEvent } from '../src/events.ts';
import type { When } from '../src/options.ts';
import type { Summarizer } from '../src/summarize/summarizer.ts';
import type { Gate } from '../src/trigger.ts';
import { freezeDeep } from './support/freeze.ts';
import { type ChatOptions, lifecycleOf } from './support/harness.ts';
import { countTokens, goodSummary, longConversation, readTool, smallBudget, toolTurn } from './support/scripted-model.ts';

const summarizer: Summarizer = async () => ({ text: goodSummary });
const failing: Summarizer = () => Promise.reject(new Error('down'));

interface World {
  compactor: Compactor<ChatRequest, ChatMessage, ChatRequest, unknown>;
  events: CompactionEvent[];
}

function start(options: Partial<ChatOptions> = {}): World {
  const events: CompactionEvent[] = [];
  const onEvent = (event: CompactionEvent): void => void events.push(event);
  return {
    events,
    compactor: createCompactor({
      adapter: openaiChat(),
      summary: { summarizer },
      onEvent,
      ...smallBudget,
      ...options,
    } as ChatOptions),
  };
}

/** What the gate is by the dry run, and by what happens. */
async function gateOf({ compactor, events }: World, request: ChatRequest, options: CheckOptions = {}): Promise<Gate | 'open'> {
  const known = events.length;
  freezeDeep(request.messages);
  const { wouldCompact, gate } = await compactor.plan(request, options);
  expect(events).toHaveLength(known);
  await compactor.prepare(request, options);
  const happened = lifecycleOf(events.slice(known));
  expect(happened.length > 0, `prepare did ${happened}, the plan said ${gate}`).toBe(wouldCompact);
  expect(gate === undefined).toBe(wouldCompact);
  return gate ?? 'open';
}

const user = (content: string): ChatMessage => ({ role: 'user', content });
const answer = (content = 'Fine.'): ChatMessage => ({ role: 'assistant', content });
const withMessages = (...messages: ChatMessage[]): ChatRequest => ({ model: 'gpt-5', messages });
const long = 'word '.repeat(1000); // 1,250 tokens
const openCall = toolTurn('open', '')[0]!;

/** A history that is due, with this at its end. */
const due = (...more: ChatMessage[]): ChatRequest => ({
  ...longConversation(),
  messages: [...longConversation().messages, ...more],
});

describe('the gates', () => {
  it('are all open for a long history behind a completed turn', async () => {
    expect(await gateOf(start(), due())).toBe('open');
  });

  it('one-shot: the request is no part of a conversation', async () => {
    expect(await gateOf(start(), due(), { oneShot: true })).toBe('one-shot');
    expect(await gateOf(start({ when: 'never' }), due(), { oneShot: true })).toBe('one-shot'); // before `disabled`
  });

  it('disabled: off means off, also for what is over every budget', async () => {
    expect(await gateOf(start({ when: 'never' }), due())).toBe('disabled');
    expect(await gateOf(start({ when: 'never' }), withMessages(user('word '.repeat(100_000))))).toBe('disabled');
  });

  it('no-turn: nothing was completed yet', async () => {
    expect(await gateOf(start(), withMessages(user(long)))).toBe('no-turn');
    expect(await gateOf(start(), withMessages())).toBe('no-turn');
    expect(await gateOf(start(), withMessages(user(long), openCall))).toBe('no-turn'); // before `open-call`
  });

  it('open-call: a call waits for its result', async () => {
    expect(await gateOf(start(), due(openCall))).toBe('open-call');
    expect(await gateOf(start(), withMessages(user('Hi.'), answer(), openCall))).toBe('open-call'); // before `below-threshold`
  });

  it('suppressed: three failures in a row, until the user says something', async () => {
    const world = start({ summary: { summarizer: failing, retries: 0 } });
    let request = due();
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await gateOf(world, request)).toBe('open');
      expect(await gateOf(world, request)).toBe('no-turn');
      request = { ...request, messages: [...request.messages, ...toolTurn(`retry_${attempt}`, 'ok')] };
    }
    expect(await gateOf(world, request)).toBe('suppressed');
    request = { ...request, messages: [...request.messages, answer(), user('Something new.')] };
    expect(await gateOf(world, request)).toBe('open');
  });

  it('suppressed: hardly grown since the last success', async () => {
    const world = start({ budget: { threshold: 100, countTokens } });
    expect(await gateOf(world, due())).toBe('open');
    expect(await gateOf(world, due(...toolTurn('more', 'ok')))).toBe('suppressed');
    expect(await gateOf(world, due(...toolTurn('more', 'ok'), ...toolTurn('much', 'x'.repeat(4000))))).toBe('open');
  });

  it('below-threshold: the threshold itself is over it', async () => {
    const request = due();
    const { tokens } = start().compactor.estimate(request);
    expect(tokens).toBeGreaterThan(500);
    const at = (threshold: number) => gateOf(start({ budget: { threshold, countTokens } }), request);
    expect(await at(tokens + 1)).toBe('below-threshold');
    expect(await at(tokens)).toBe('open');
    expect(await at(tokens - 1)).toBe('open');
  });

  it('irreducible: what must stay fills the budget', async () => {
    const { inputBudget } = start().compactor.estimate(due());
    const tools = [{ ...readTool, function: { ...readTool.function, description: 'd'.repeat(inputBudget * 4) } }];
    const world = start();
    expect(await gateOf(world, { ...due(), tools })).toBe('irreducible');
    expect(
      await gateOf(start(), withMessages({ role: 'system', content: 'x'.repeat(inputBudget * 4) }, user('Hi.'), answer())),
    ).toBe('irreducible');
    expect(await gateOf(start(), withMessages(user('Hi.'), answer(), user('x'.repeat(inputBudget * 4))))).toBe('irreducible');
    expect(world.events).toMatchObject([{ type: 'notice', code: 'irreducible' }]);
  });

  it('nothing-to-compact: there is only what must stay', async () => {
    const every = { when: 'every-request' } as const;
    const over = { budget: { threshold: 500, countTokens }, contextWindow: 5000 };
    expect(await gateOf(start({ ...every, ...over }), withMessages(user(long)))).toBe('nothing-to-compact');
  });
});

describe('the gates of Anthropic requests', () => {
  const call = (id: string) => ({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: {} }] });
  const result = (id: string) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content: 'x'.repeat(4000) }],
  });
  const request = (messages: object[], fields: object = {}): AnthropicRequest => ({
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Go.' }, call('a'), result('a'), ...messages] as never,
    ...fields,
  });
  const plan = async (sent: AnthropicRequest) => {
    const compactor = createCompactor({ adapter: anthropicMessages(), summary: { summarizer }, ...smallBudget });
    const planned = await compactor.plan(sent);
    expect((await compactor.prepare(sent)) === sent).toBe(!planned.wouldCompact);
    return planned;
  };

  it('pending: a prefill, or a paused turn that goes back as it is', async () => {
    expect(await plan(request([]))).toMatchObject({ wouldCompact: true });
    expect(await plan(request([{ role: 'assistant', content: 'The answer is' }]))).toMatchObject({ gate: 'pending' });
  });

  it('open-call comes before pending', async () => {
    expect(await plan(request([call('b')]))).toMatchObject({ gate: 'open-call' });
  });

  it('server-held: the history is the server’s', async () => {
    expect(await plan(request([], { thread: { id: 't' } }))).toMatchObject({ gate: 'server-held', serverHeld: 'thread' });
  });

  it('a result that was given counts, and text beside it is input', async () => {
    const beside = request([
      call('b'),
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'b', content: 'ok' },
          { type: 'text', text: 'Hurry.' },
        ],
      },
    ]);
    const { kept } = await plan(beside);
    expect(kept.lastUserMessage?.parts).toEqual([{ type: 'text', text: 'Hurry.' }]);
  });
});

describe('when', () => {
  const cases: [string, ChatRequest, Record<When, Gate | 'open'>][] = [
    [
      'a tool turn',
      withMessages(user('Go.'), ...toolTurn('a', long)),
      { turn: 'open', 'tool-turn': 'open', 'every-request': 'open', never: 'disabled' },
    ],
    [
      'an answered question',
      withMessages(user(long), answer(), user('And?')),
      { turn: 'open', 'tool-turn': 'no-turn', 'every-request': 'open', never: 'disabled' },
    ],
    [
      'an answered question with an open end',
      withMessages(user(long), answer()),
      { turn: 'open', 'tool-turn': 'no-turn', 'every-request': 'open', never: 'disabled' },
    ],
    [
      'new input behind tool turns',
      withMessages(user('Go.'), ...toolTurn('a', long), user('Something else.')),
      { turn: 'open', 'tool-turn': 'no-turn', 'every-request': 'open', never: 'disabled' },
    ],
    [
      'one fresh message',
      withMessages(user(long)),
      { turn: 'no-turn', 'tool-turn': 'no-turn', 'every-request': 'no-turn', never: 'disabled' },
    ],
  ];
  for (const when of ['turn', 'tool-turn', 'every-request', 'never'] as const)
    it.each(cases)(`${when}: %s`, async (_name, request, expected) => {
      expect(await gateOf(start({ when }), request)).toBe(expected[when]);
    });

  it('every-request: a fresh request is compacted from the budget on, not from the threshold', async () => {
    // No turn is complete: the assistant only called, and the user went on.
    const fresh = (length: number) => withMessages(user('a'.repeat(length)), openCall, user('Never mind. What now?'));
    const world = () => start({ when: 'every-request', contextWindow: 5000 });
    const { inputBudget } = world().compactor.estimate(fresh(10));
    const length = (tokens: number) => (tokens - world().compactor.estimate(fresh(0)).tokens) * 4;
    expect(world().compactor.estimate(fresh(length(inputBudget))).tokens).toBe(inputBudget);
    expect(await gateOf(world(), fresh(length(inputBudget)))).toBe('no-turn');
    expect(await gateOf(world(), fresh(length(inputBudget + 1)))).toBe('open');
    expect(await gateOf(start({ contextWindow: 5000 }), fresh(length(inputBudget + 1)))).toBe('no-turn');
  });
});

describe('a plan', () => {
  it('says what would be summarized, and what would stay', async () => {
    const request = due({ role: 'system', content: 'A later rule.' });
    const { estimate, summarized, kept } = await start().compactor.plan(request);
    expect(summarized.items).toBe(request.messages.length - 2);
    expect(summarized.tokens).toBeGreaterThan(1000);
    expect(summarized.tokens).toBeLessThan(estimate.tokens);
    expect(kept).toEqual({
      systemItems: 2,
      lastUserMessage: { role: 'user', parts: [{ type: 'text', text: 'Read the second file.' }] },
      retainedItems: 0,
    });
    expect(estimate).toEqual(start().compactor.estimate(request));
  });

  it('says how many items would be kept word for word, and what happens is the same', async () => {
    const request = due(answer(), { role: 'user', content: 'And now?' });
    const retain = { tail: { min: 0, max: 900 }, messages: { tokens: 100 } };
    const { compactor } = start({ retain, summary: { summarizer, maxTokens: 20 } });
    const { summarized, kept } = await compactor.plan(request);
    const { messages } = await compactor.prepare(request);
    expect(kept.retainedItems).toBe(messages.filter((message) => request.messages.slice(1).includes(message)).length);
    expect(kept.retainedItems).toBeGreaterThan(2);
    expect(summarized.items).toBe(request.messages.length - 2);
  });

  it('is a copy', async () => {
    const { compactor } = start();
    const request = due();
    const { kept } = await compactor.plan(request);
    Object.assign(kept.lastUserMessage?.parts[0] ?? {}, { text: 'changed' });
    expect((await compactor.plan(request)).kept.lastUserMessage?.parts).toEqual([
      { type: 'text', text: 'Read the second file.' },
    ]);
  });

  it('has nothing to summarize in an empty conversation', async () => {
    expect(await start().compactor.plan(withMessages())).toMatchObject({
      wouldCompact: false,
      summarized: { items: 0, tokens: 0 },
      kept: { systemItems: 0 },
    });
  });

  it('rejects for a request that cannot be read', async () => {
    await expect(start().compactor.plan({ model: 'm', messages: [null] } as never)).rejects.toMatchObject({
      code: 'invalid-request',
    });
  });
});
