import { describe, expect, it } from 'vitest';
import { type AnthropicRequest, anthropicMessages } from '../src/adapters/anthropic.ts';
import { type ChatMessage, type ChatRequest, openaiChat } from '../src/adapters/openai-chat.ts';
import { type Compactor, createCompactor } from '../src/compactor.ts';
import type { CompactionEvent } from '../src/events.ts';
import { textOf } from '../src/message.ts';
import { readReplacement } from '../src/prompt/replacement.ts';
import type { Summarizer } from '../src/summarize/summarizer.ts';
import { freezeDeep } from './support/freeze.ts';
import { type ChatOptions, createWrapper, isCompacted, lifecycleOf } from './support/harness.ts';
import {
  countTokens,
  goodSummary,
  longConversation,
  scriptedModel,
  smallBudget,
  throws,
  toolTurn,
} from './support/scripted-model.ts';
import { readChat } from './support/views.ts';

type ChatCompactor = Compactor<ChatRequest, ChatMessage, ChatRequest, unknown>;

const summarizer: Summarizer = async () => ({ text: goodSummary });

function start(options: Partial<ChatOptions> = {}): { compactor: ChatCompactor; events: CompactionEvent[] } {
  const events: CompactionEvent[] = [];
  const compactor = createCompactor({
    adapter: openaiChat(),
    onEvent: (event) => void events.push(event),
    summary: { summarizer },
    ...smallBudget,
    ...options,
  } as ChatOptions);
  return { compactor, events };
}

const shortRequest: ChatRequest = { model: 'gpt-5', messages: [{ role: 'user', content: 'Hello.' }] };

/** The conversation with so many more tool turns. */
function grown(turns: number, size = 10): ChatRequest {
  const request = longConversation();
  const added = Array.from({ length: turns }, (_, index) => toolTurn(`more_${index}`, 'x'.repeat(size))).flat();
  return { ...request, messages: [...request.messages, ...added] };
}

describe('a request that is not rebuilt', () => {
  it.each<[string, ChatRequest, Partial<ChatOptions>]>([
    ['is short', shortRequest, {}],
    ['is due, but compaction is off', longConversation(), { when: 'never' }],
    ['waits for the results of its calls', { ...longConversation(), messages: longConversation().messages.slice(0, -1) }, {}],
    ['is due, but the summary fails', longConversation(), { summary: { summarizer: () => Promise.reject(new Error('no')) } }],
    [
      'is odd, but short',
      { model: 'gpt-5', messages: [{ role: 'tool', tool_call_id: 'lost', content: '\ud800' }, { role: 'critic' }] },
      {},
    ],
  ])('is given back as the very same object, untouched, where it %s', async (_name, request, options) => {
    freezeDeep(request);
    const { compactor } = start(options);
    for (let time = 0; time < 3; time++) expect(await compactor.prepare(request)).toBe(request);
  });

  it('is so with what only the caller knows in it', async () => {
    class Message {
      readonly role = 'user';
      readonly #secret = 1;
      readonly content = 'Hello.';
      secret(): number {
        return this.#secret;
      }
    }
    const request = { ...shortRequest, messages: [new Message()], unknown: { nested: [new Date(0)] }, client: () => 'call me' };
    const { compactor } = start();
    const prepared = await compactor.prepare(request);
    expect(prepared).toBe(request);
    expect(prepared.messages[0]?.secret()).toBe(1);
  });
});

describe('a request that is rebuilt', () => {
  it('keeps every item behind the covered part, and every other field, as the very same objects', async () => {
    const { compactor } = start();
    await compactor.prepare(longConversation());
    const request = { ...grown(2), metadata: { mine: new Date(0) }, onToken: () => undefined };
    freezeDeep(request.messages);
    const prepared = await compactor.prepare(request);
    expect(isCompacted(prepared)).toBe(true);
    const { messages } = longConversation();
    expect(prepared.messages[0]).toBe(request.messages[0]);
    request.messages.slice(messages.length).forEach((message, index) => void expect(prepared.messages[index + 2]).toBe(message));
    expect(prepared.messages).toHaveLength(2 + 4);
    expect(prepared.tools).toBe(request.tools);
    expect(prepared.metadata).toBe(request.metadata);
    expect(prepared.onToken).toBe(request.onToken);
    expect(Object.keys(prepared)).toEqual(Object.keys(request));
  });

  it('keeps instances of classes and unknown fields of kept items', async () => {
    class Message {
      readonly role = 'user';
      readonly content = 'And this?';
      readonly thread = { id: 7 };
    }
    const { compactor } = start();
    await compactor.prepare(longConversation());
    const message = new Message();
    const request = longConversation();
    const prepared = await compactor.prepare({ ...request, messages: [...request.messages, message] });
    expect(prepared.messages.at(-1)).toBe(message);
  });

  it('keeps images of the latest input as native parts, in their place', async () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
    const content = [{ type: 'text', text: 'What is' }, image, { type: 'text', text: 'this?' }];
    const { compactor } = start();
    const request = longConversation();
    const messages = [
      ...request.messages,
      { role: 'assistant', content: 'Read.' },
      { role: 'user', content },
      ...toolTurn('call_3', 'ok'),
    ];
    const prepared = await compactor.prepare({ ...request, messages });
    const parts = prepared.messages[1]?.content as unknown[];
    expect(parts.slice(1, -1)).toEqual(content);
  });

  it('is not changed by what a host does to an earlier one', async () => {
    const { compactor } = start();
    const first = await compactor.prepare(longConversation());
    const bytes = JSON.stringify(first);
    const parts = first.messages[1]?.content as object[];
    Object.assign(parts[0]!, { cache_control: { type: 'ephemeral' } });
    parts.push({ type: 'text', text: 'Added by the host.' });
    expect(JSON.stringify(await compactor.prepare(longConversation()))).toBe(bytes);
  });

  it('has the same bytes for the same input, whoever builds it', async () => {
    const bytes = async (): Promise<string[]> => {
      const { compactor } = start();
      const sent = [];
      for (const request of [longConversation(), grown(1), grown(2)])
        sent.push(JSON.stringify(await compactor.prepare(structuredClone(request))));
      return sent;
    };
    const first = await bytes();
    expect(await bytes()).toEqual(first);
    const prefix = (first[0] ?? '').slice(0, -2); // without the end of `messages` and of the request
    expect(first.slice(1).every((sent) => sent.startsWith(prefix))).toBe(true);
  });

  it('takes system messages from the request of the moment', async () => {
    const { compactor } = start();
    const dated = (day: string, request: ChatRequest): ChatRequest => ({
      ...request,
      messages: [{ role: 'system', content: day }, ...request.messages.slice(1)],
    });
    await compactor.prepare(dated('Monday', longConversation()));
    const prepared = await compactor.prepare(dated('Tuesday', grown(1)));
    expect(isCompacted(prepared)).toBe(true);
    expect(prepared.messages[0]).toEqual({ role: 'system', content: 'Tuesday' });
  });
});

describe('estimate and plan', () => {
  it('see the conversation as prepare would, compacted where it is', async () => {
    const { compactor } = start();
    const before = compactor.estimate(longConversation());
    expect(before).toMatchObject({ overThreshold: true, threshold: 500, counter: 'custom' });
    expect(await compactor.plan(longConversation())).toMatchObject({ wouldCompact: true });
    await compactor.prepare(longConversation());
    const after = compactor.estimate(longConversation());
    expect(after.tokens).toBeLessThan(before.tokens / 2);
    expect(await compactor.plan(longConversation())).toMatchObject({ wouldCompact: false, gate: 'no-turn', estimate: after });
  });

  it('ask no model and change nothing, also for drafts of what may be sent', async () => {
    const model = scriptedModel();
    const { compactor, events } = start({ send: model.send, summary: {} });
    const draft = (request: ChatRequest, text: string): ChatRequest => ({
      ...request,
      messages: [...request.messages, { role: 'assistant', content: 'Fine.' }, { role: 'user', content: text }],
    });
    for (let look = 0; look < 3; look++) {
      compactor.estimate(longConversation());
      await compactor.plan(longConversation());
    }
    expect([model.summaries.length, events.length]).toEqual([0, 0]);
    const prepared = await compactor.prepare(longConversation());
    compactor.observe(prepared, { usage: { inputTokens: 400 } });
    for (const text of ['H', 'He', 'Hel', 'Hello']) {
      expect(compactor.estimate(draft(longConversation(), text)).tokens).toBeLessThan(500);
      await compactor.plan(draft(longConversation(), text));
    }
    // The conversation is still the same one: what its provider said is remembered.
    expect(compactor.estimate(grown(1)).sources.tokens).toBe('usage');
    expect(model.summaries).toHaveLength(1);
  });
});

describe('a one-shot request', () => {
  it('is compacted as far as its conversation is, and leaves no trace in it', async () => {
    const { compactor, events } = start();
    const titled = (request: ChatRequest): ChatRequest => ({
      ...request,
      messages: [...request.messages, { role: 'user', content: 'Give this a title.' }],
    });
    expect(await compactor.prepare(longConversation(), { oneShot: true })).toEqual(longConversation());
    expect(events).toEqual([]);
    const prepared = await compactor.prepare(longConversation());
    compactor.observe(prepared, { usage: { inputTokens: 400 } });
    const title = await compactor.prepare(titled(longConversation()), { oneShot: true });
    expect(isCompacted(title)).toBe(true);
    compactor.observe(title, { usage: { inputTokens: 9999 } });
    const estimate = compactor.estimate(grown(1));
    expect(estimate.sources.tokens).toBe('usage');
    expect(estimate.tokens).toBeLessThan(500);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  });
});

describe('observe', () => {
  it('makes the provider’s count the base of the next estimate', async () => {
    const { compactor } = start({ when: 'never' });
    const prepared = await compactor.prepare(longConversation());
    expect(compactor.estimate(longConversation()).sources.tokens).toBe('estimate');
    compactor.observe(prepared, { usage: { inputTokens: 2000 } });
    expect(compactor.estimate(longConversation())).toMatchObject({ tokens: 2000, sources: { tokens: 'usage' } });
    const next = compactor.estimate(grown(1, 400));
    expect(next.tokens).toBeGreaterThan(2100);
    expect(next.tokens).toBeLessThan(2150);
  });

  it('is about what was sent, although the caller has added the reply since', async () => {
    const { compactor } = start({ when: 'never' });
    const messages = [...longConversation().messages];
    const request = { ...longConversation(), messages };
    await compactor.prepare(request);
    messages.push({ role: 'assistant', content: 'r'.repeat(4000) }); // as the stream ended
    compactor.observe(request, { usage: { inputTokens: 2000 } });
    expect(compactor.estimate(request).tokens).toBeGreaterThanOrEqual(3000);
  });

  it('takes the caller’s request as well as the one that was sent in its place', async () => {
    for (const which of ['own', 'sent'] as const) {
      const { compactor } = start();
      const own = longConversation();
      const sent = await compactor.prepare(own);
      expect(sent).not.toBe(own);
      compactor.observe(which === 'own' ? own : sent, { usage: { inputTokens: 321 } });
      expect(compactor.estimate(own)).toMatchObject({ tokens: 321, sources: { tokens: 'usage' } });
    }
  });

  it('takes a request that was never prepared', () => {
    const { compactor } = start();
    compactor.observe(shortRequest, { usage: { inputTokens: 77 } });
    expect(compactor.estimate(structuredClone(shortRequest))).toMatchObject({ tokens: 77 });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 0, null, undefined, '9'])('ignores %s', async (inputTokens) => {
    const { compactor } = start();
    await compactor.prepare(shortRequest);
    compactor.observe(shortRequest, { usage: { inputTokens: inputTokens as never } }); // providers send such numbers
    expect(compactor.estimate(shortRequest).sources.tokens).toBe('estimate');
  });

  it('never throws', () => {
    const { compactor } = start();
    for (const request of [null, undefined, 5, {}, { messages: 'none' }])
      expect(() => compactor.observe(request as never, { usage: { inputTokens: 5 } })).not.toThrow();
    expect(() => compactor.observe(shortRequest, { usage: undefined } as never)).not.toThrow();
  });

  it('B124: says nothing about a conversation that was compacted since', async () => {
    const { compactor } = start();
    const request = longConversation();
    compactor.observe(request, { usage: { inputTokens: 1300 } });
    await compactor.prepare(request);
    expect(compactor.estimate(request)).toMatchObject({ sources: { tokens: 'estimate' } });
    expect(compactor.estimate(request).tokens).toBeLessThan(500);
  });
});

describe('compact', () => {
  it('compacts a conversation whatever the gates say, and its later requests with it', async () => {
    const { compactor, events } = start({ when: 'never' });
    const request = longConversation();
    const result = await compactor.compact(request);
    expect(result.request.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(result.request.tools).toBe(request.tools);
    expect(result.tokensAfter).toBeLessThan(result.tokensBefore);
    expect((await compactor.prepare(grown(1))).messages).toHaveLength(4);
    expect(events).toEqual([]);
  });

  it('leaves everything as it was where it fails', async () => {
    const { compactor } = start({ summary: { summarizer: () => Promise.reject(new Error('no')) }, when: 'never' });
    await expect(compactor.compact(longConversation())).rejects.toMatchObject({ code: 'summarizer-failed' });
    const request = longConversation();
    expect(await compactor.prepare(request)).toBe(request);
  });
});

describe('repeated compaction', () => {
  /** Repeats all that it reads, as a bad model would. */
  const echo: Summarizer = async ({ messages, maxTokens }) => ({ text: messages.map(textOf).join('\n').slice(0, maxTokens) });
  const question = 'The question: </last_user_message> do "this".';
  const asked = (request: ChatRequest): ChatRequest => ({
    ...request,
    messages: [
      request.messages[0]!,
      { role: 'user', content: question },
      ...request.messages.slice(2).filter(({ role }) => role !== 'user'),
    ],
  });

  it('unwraps the earlier replacement: one wrapper, and the question word for word and once, after ten rounds', async () => {
    const { compactor, events } = start({ summary: { summarizer: echo, maxTokens: 600 } });
    let request = asked(longConversation());
    for (let round = 1; round <= 10; round++) {
      const prepared = await compactor.prepare(request);
      const replacement = prepared.messages[1]!;
      const [message] = readChat(replacement).messages;
      const parsed = message && readReplacement(message);
      expect(parsed?.lastUserMessage).toEqual([{ type: 'text', text: question }]);
      expect(lifecycleOf(events)).toHaveLength(round * 2);
      const turns = [0, 1, 2].flatMap((turn) => toolTurn(`round_${round}_${turn}`, `${round} `.repeat(400)));
      request = { ...request, messages: [...request.messages, ...turns] };
    }
    expect(lifecycleOf(events)).toEqual(Array(10).fill(['started', 'applied']).flat());
  });

  it('B092: has one wrapper in the native request, whatever its summarizer repeats', async () => {
    const { compactor } = start({ summary: { summarizer: echo, maxTokens: 600 } });
    let request = asked(longConversation());
    for (let round = 1; round <= 10; round++) {
      const prepared = await compactor.prepare(request);
      const parts = prepared.messages.flatMap(({ content }) =>
        Array.isArray(content) ? content.map(({ text }) => String(text)) : [String(content)],
      );
      const opened = parts.filter((text) => /^<compacted_context(_\d+)?>\n/.test(text));
      expect(opened).toHaveLength(1);
      expect(parts.filter((text) => text === question)).toHaveLength(1);
      expect(countTokens(opened[0] ?? '')).toBeLessThan(400);
      request = {
        ...request,
        messages: [...request.messages, ...[0, 1, 2].flatMap((turn) => toolTurn(`round_${round}_${turn}`, 'x'.repeat(800)))],
      };
    }
  });
});

describe('a conversation', () => {
  it('goes on in another process with the same bytes', async () => {
    for (const conversation of [undefined, 'named']) {
      const first = start();
      await first.compactor.prepare(longConversation(), { conversation });
      const snapshot = JSON.parse(JSON.stringify(first.compactor.snapshot(longConversation(), { conversation })));
      const second = start();
      second.compactor.restore(snapshot);
      for (const turns of [0, 1, 2]) {
        const here = await first.compactor.prepare(grown(turns), { conversation });
        const there = await second.compactor.prepare(structuredClone(grown(turns)), { conversation });
        expect(JSON.stringify(there)).toBe(JSON.stringify(here));
        expect(isCompacted(there)).toBe(true);
      }
      expect(second.events).toEqual([]);
    }
  });

  it('that failed stays suppressed in another process', async () => {
    const failing = { summary: { summarizer: () => Promise.reject(new Error('no')), retries: 0 } };
    const first = start(failing);
    for (const turns of [0, 1, 2]) await first.compactor.prepare(grown(turns));
    const second = start(failing);
    second.compactor.restore(first.compactor.snapshot(grown(2)));
    await second.compactor.prepare(grown(3));
    expect(second.events).toEqual([]);
    expect(await second.compactor.plan(grown(3))).toMatchObject({ gate: 'suppressed' });
  });

  it('has its doubt ended wherever it was forked', async () => {
    const { create, model } = createWrapper({ commit: () => new Promise(() => {}), commitTimeout: 5 });
    await create(longConversation(), { conversation: 'a' });
    const { inDoubt } = create.compactor.snapshot(longConversation(), { conversation: 'a' }).trigger;
    const snapshot = create.compactor.snapshot(longConversation(), { conversation: 'a' });
    create.compactor.restore({ ...snapshot, conversation: 'b' });
    expect(create.compactor.reconcile(inDoubt!, false)).toBe(true);
    expect(create.compactor.reconcile(inDoubt!, false)).toBe(false);
    expect(model.summaries).toHaveLength(1);
    for (const conversation of ['a', 'b'])
      expect(await create.compactor.plan(grown(1), { conversation })).toMatchObject({ wouldCompact: true });
  });
});

describe('a loop of a compactor', () => {
  it('has its options, and may have a store and an observer of its own', async () => {
    const { compactor, events } = start();
    await compactor.loop(longConversation()).prepare();
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    const own: string[] = [];
    const loop = compactor.loop(longConversation(), {
      conversation: 'mine',
      commit: ({ conversation }) => void own.push(`commit of ${conversation}`),
      onEvent: ({ type }) => void own.push(type),
    });
    await loop.prepare();
    expect(own).toEqual(['auto_compaction_started', 'commit of mine', 'auto_compaction_applied']);
    expect(lifecycleOf(events)).toHaveLength(2);
  });
});

describe('Anthropic requests', () => {
  const turns = Array.from({ length: 4 }, (_, index) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `t${index}`, name: 'read', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${index}`, content: 'x'.repeat(1000) }] },
  ]).flat();
  const request: AnthropicRequest = {
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    system: [{ type: 'text', text: 'Be exact.', cache_control: { type: 'ephemeral' } }] as never,
    messages: [{ role: 'user', content: 'Read all.' }, ...turns] as never,
  };

  it('keep system and other fields as the very same objects, and stay legal', async () => {
    const compactor = createCompactor({ adapter: anthropicMessages(), summary: { summarizer }, ...smallBudget });
    const prepared = await compactor.prepare(request);
    expect(prepared.messages).toHaveLength(1);
    expect(prepared.system).toBe(request.system);
    const kept = { role: 'assistant', content: [{ type: 'tool_use', id: 'next', name: 'read', input: {} }] } as never;
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'next', content: 'ok' }] } as never;
    const next = await compactor.prepare({ ...request, messages: [...request.messages, kept, result] });
    expect(next.messages).toHaveLength(3);
    expect([next.messages[1], next.messages[2]]).toEqual([kept, result]);
    expect(next.messages[1]).toBe(kept);
    expect(next.messages[2]).toBe(result);
  });

  it('do not fail a summary that throws', async () => {
    const model = scriptedModel([throws(new Error('down'))]);
    const compactor = createCompactor({
      adapter: anthropicMessages(),
      send: model.send as never,
      summary: { retries: 0 },
      ...smallBudget,
    });
    expect(await compactor.prepare(request)).toBe(request);
  });

  it('names an option of a loop that it does not know: a misspelled `commit` would never be called', () => {
    const compactor = createCompactor({ adapter: openaiChat(), when: 'never' });
    expect(() => compactor.loop({ model: 'gpt-5', messages: [] }, { comit: () => undefined } as never)).toThrow(
      'there is no option `comit`',
    );
  });
});
