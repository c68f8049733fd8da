import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChatMessage, ChatReply, ChatRequest } from '../src/adapters/openai-chat.ts';
import { isCompactionError } from '../src/errors.ts';
import type { AutoCompactingLoop } from '../src/loop.ts';
import { deferred, never, watch } from './support/deferred.ts';
import { createLoop, createWrapper, eventOf, isCompacted, lifecycleOf, noticesOf } from './support/harness.ts';
import {
  answers,
  callsTools,
  goodSummary,
  httpError,
  longConversation,
  readTool,
  type Step,
  says,
  streams,
  summarizes,
  throws,
  toolTurn,
} from './support/scripted-model.ts';

type ChatLoop = AutoCompactingLoop<ChatRequest, ChatMessage, ChatReply>;

const long = longConversation().messages;
const fail: Step = throws(new Error('no'));
const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Completes so many tool turns with a request after each, and tells how often compaction was tried. */
async function turns(loop: ChatLoop, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    loop.append(toolTurn(`call_${loop.request.messages.length}`, 'c'.repeat(3000)));
    await loop.send();
  }
}

describe('after a failure', () => {
  it('there is no other attempt until a turn is completed', async () => {
    const { loop, events, model } = createLoop({ steps: [fail, fail] });
    for (let repeat = 0; repeat < 5; repeat++) await loop.send();
    loop.append([user('And another thing.')]);
    await loop.send();
    expect(lifecycleOf(events)).toEqual(['started', 'failed: summarizer-failed']);
    await turns(loop, 1);
    expect(lifecycleOf(events)).toHaveLength(4);
    expect(model.turns).toHaveLength(7);
  });

  it('three in a row suppress compaction until the user says something', async () => {
    const { loop, events } = createLoop({ steps: [fail, fail, fail, fail], contextWindow: 50_000 });
    await loop.send();
    await turns(loop, 8);
    expect(lifecycleOf(events).filter((type) => type === 'started')).toHaveLength(3);
    loop.append([assistant('Done.'), user('Go on.')]);
    await loop.send();
    expect(lifecycleOf(events).filter((type) => type === 'started')).toHaveLength(4);
    await turns(loop, 4); // the fourth failed too
    expect(lifecycleOf(events).filter((type) => type === 'started')).toHaveLength(4);
    loop.append([assistant('Done.'), user('Go on.')]);
    await loop.send();
    expect(lifecycleOf(events).at(-1)).toBe('applied');
    expect(loop.snapshot().trigger.failures).toBe(0);
  });

  it('a success between them begins to count anew', async () => {
    const { loop, events } = createLoop({ steps: [fail, fail, summarizes(), fail, fail, fail] });
    await loop.send();
    await turns(loop, 8);
    expect(lifecycleOf(events).filter((type) => type === 'started')).toHaveLength(6);
  });

  it('the same holds for a caller who keeps its own history', async () => {
    const { create, events } = createWrapper({ steps: [fail, fail, fail, fail] });
    let messages = long;
    const grow = async (...more: ChatMessage[]): Promise<void> => {
      messages = [...messages, ...more];
      await create({ ...longConversation(), messages });
      await create({ ...longConversation(), messages });
    };
    await grow();
    for (let turn = 3; turn < 10; turn++) await grow(...toolTurn(`call_${turn}`, 'c'));
    expect(lifecycleOf(events).filter((type) => type === 'started')).toHaveLength(3);
    await grow(assistant('Done.'), user('Go on.'));
    expect(lifecycleOf(events).filter((type) => type === 'started')).toHaveLength(4);
  });
});

describe('after a cancellation', () => {
  it('there is no other attempt until a turn is completed, and it counts as no failure', async () => {
    const { loop, events } = createLoop({ steps: [never, never, never, never] });
    const cancelled = async (): Promise<void> => {
      const reply = watch(loop.send());
      await vi.advanceTimersByTimeAsync(1);
      loop.cancelCompaction();
      await vi.advanceTimersByTimeAsync(1);
      expect(reply.settlement.state).toBe('fulfilled');
    };
    for (let turn = 3; turn < 7; turn++) {
      await cancelled();
      await loop.send();
      loop.append(toolTurn(`call_${turn}`, 'c'));
    }
    expect(lifecycleOf(events).filter((type) => type === 'cancelled by child')).toHaveLength(4);
    expect(loop.snapshot().trigger.failures).toBe(0);
    await loop.send();
    expect(lifecycleOf(events).slice(-2)).toEqual(['started', 'applied']);
  });

  it('of the turn, the same', async () => {
    const { loop, events, model } = createLoop({ steps: [never] });
    const abort = new AbortController();
    const reply = watch(loop.send({ signal: abort.signal }));
    await vi.advanceTimersByTimeAsync(1);
    abort.abort('stop');
    await vi.advanceTimersByTimeAsync(1);
    expect(reply.settlement).toEqual({ state: 'rejected', reason: 'stop' });
    await loop.send();
    expect(lifecycleOf(events)).toEqual(['started', 'cancelled by parent']);
    expect(model.turns[0]?.request.messages).toEqual(long);
  });
});

describe('after a success', () => {
  /** A summary of 600 tokens: the compacted request is over the threshold of 500. */
  const large = (): Step => summarizes(`## Goal\n${'s'.repeat(2400)}`);

  it('there is no other attempt before the history has grown by a twentieth of the budget', async () => {
    const { loop, events } = createLoop({ steps: [large(), large()] });
    await loop.send();
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    const after = loop.estimate().tokens;
    const step = Math.floor((5904 * 0.05) / 3); // three of these are nearly the twentieth
    for (let turn = 0; turn < 3; turn++) {
      loop.append([...toolTurn(`call_${turn}a`, 'c'.repeat(4 * (step - 40)))]);
      expect(loop.estimate().tokens - after).toBeLessThan(5904 * 0.05);
      expect(loop.estimate().overThreshold).toBe(true);
      await loop.send();
      expect(lifecycleOf(events)).toHaveLength(2);
    }
    loop.append(toolTurn('call_z', 'c'.repeat(600)));
    expect(loop.estimate().tokens - after).toBeGreaterThanOrEqual(5904 * 0.05);
    await loop.send();
    expect(lifecycleOf(events).slice(2, 3)).toEqual(['started']);
  });

  it('the same holds behind the overlay', async () => {
    const { create, events } = createWrapper({ steps: [large(), large()] });
    const send = (...more: ChatMessage[]): Promise<unknown> => create({ ...longConversation(), messages: [...long, ...more] });
    await send();
    await send(...toolTurn('call_3', 'c'.repeat(400)));
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    await send(...toolTurn('call_3', 'c'.repeat(400)), ...toolTurn('call_4', 'c'.repeat(1200)));
    expect(lifecycleOf(events).slice(2, 3)).toEqual(['started']);
  });
});

describe('notices of a closed gate', () => {
  it('come once, until the user says something new', async () => {
    const huge = 'u'.repeat(30_000);
    const { loop, events } = createLoop();
    loop.append([assistant('Read.'), user(huge)]);
    for (let repeat = 0; repeat < 3; repeat++) await loop.send();
    await turns(loop, 2);
    expect(noticesOf(events)).toEqual(['irreducible']);
    loop.append([assistant('Read.'), user(huge)]);
    for (let repeat = 0; repeat < 3; repeat++) await loop.send();
    await turns(loop, 2);
    expect(noticesOf(events)).toEqual(['irreducible', 'irreducible']);
    expect(lifecycleOf(events)).toEqual([]);
  });
});

describe('what cannot be checked', () => {
  it.each<[string, Parameters<typeof createLoop>[0]]>([
    ['a counter that throws', { budget: { threshold: 500, countTokens: throwing('no counter') } }],
    ['a counter that throws nothing', { budget: { threshold: 500, countTokens: throwing(undefined) } }],
    ['an `isUserInput` that throws', { retain: { isUserInput: throwing(new Error('no input')) } }],
  ])('goes out as it is: %s', async (_name, options) => {
    const { create, events, model, stored } = createWrapper(options);
    const request = longConversation();
    await create(request);
    expect(model.turns.map((turn) => turn.request)).toEqual([request]);
    expect(model.turns[0]?.request).toBe(request);
    expect(lifecycleOf(events)).toEqual([]);
    expect(noticesOf(events)).toEqual(['unreadable-request']);
    expect(stored).toEqual([]);
    const { loop, ...world } = createLoop(options);
    await loop.send();
    expect(world.model.turns[0]?.request.messages).toEqual(long);
    expect(noticesOf(world.events)).toEqual(['unreadable-request']);
  });

  it('goes out as it is: an item of a loop that was made unreadable in place', async () => {
    const item: { role: string; content: unknown } = { role: 'user', content: 'fine' };
    const { loop, events, model } = createLoop({ request: { ...longConversation(), messages: [...long, item] } });
    item.content = [item];
    await loop.send();
    expect(model.turns[0]?.request.messages.at(-1)).toBe(item);
    expect(noticesOf(events)).toEqual(['unreadable-request']);
  });

  it.each<[string, ChatRequest]>([
    ['no messages', { model: 'gpt-5' } as never],
    ['a message that is null', { ...longConversation(), messages: [...long, null as never] }],
    ['nothing', undefined as never],
  ])('goes out as it is through the wrapper: %s', async (_name, request) => {
    const { create, events, model } = createWrapper();
    await create(request);
    expect(model.turns).toHaveLength(1);
    expect(model.turns[0]?.request).toBe(request);
    expect(noticesOf(events)).toEqual(['unreadable-request']);
  });
});

function throwing(value: unknown): () => never {
  return () => {
    throw value;
  };
}

describe('a manual compaction', () => {
  it('replaces the conversation by one message with the trimmed summary', async () => {
    const { loop, events, stored, model } = createLoop({ steps: [summarizes(`\n${goodSummary}\n\n`)] });
    const result = await loop.compact({ instructions: 'Keep the paths.' });
    expect(result.replacement).toEqual([{ role: 'user', parts: [{ type: 'text', text: goodSummary }] }]);
    expect(result.request).toEqual({ ...longConversation(), messages: [long[0], user(goodSummary)] });
    expect(loop.request).toEqual(result.request);
    expect(result).toMatchObject({
      prefix: 'kept',
      because: [],
      notices: [],
      usage: { inputTokens: 1000, outputTokens: 100 },
      compactionId: stored[0]?.compactionId,
    });
    expect(result.tokensAfter).toBeLessThan(result.tokensBefore);
    expect(stored).toMatchObject([{ trigger: 'manual', covered: long.length, replacement: result.replacement }]);
    expect(model.summaries[0]?.request.messages.at(-1)?.content).toContain('IMPORTANT, from the user: Keep the paths.');
    expect(events).toEqual([]);
  });

  it('B055: sends its instructions in every summary request', async () => {
    const { create, model } = createWrapper({ steps: [answers(callsTools(['a'])), answers(says('half', 'length'))] });
    await create.compactor.compact(
      { ...longConversation(), messages: [user('Hi'), assistant('a'.repeat(2000))] },
      { instructions: 'TRIPWIRE' },
    );
    expect(model.summaries).toHaveLength(3);
    for (const { request } of model.summaries) expect(JSON.stringify(request)).toContain('TRIPWIRE');
  });

  it('tells of the calls that it denied, and nothing that a listener does with them matters', async () => {
    const { loop, model } = createLoop({ steps: [answers(callsTools(['a', 'b'])), summarizes()] });
    const heard: string[] = [];
    await loop.compact({
      onRestart: () => heard.push('again'),
      onDenied(calls) {
        for (const call of calls) {
          heard.push(`${call.id} ${call.name}`);
          call.name = 'changed';
        }
        throw new Error('no screen');
      },
    });
    expect(heard).toEqual(['again', 'a read', 'b read']);
    expect(JSON.stringify(model.summaries.at(-1)?.request)).not.toContain('changed');
    expect(loop.request.messages).toHaveLength(2);
  });

  it('wraps the summary where that is asked for', async () => {
    const { loop } = createLoop();
    const { replacement } = await loop.compact({ format: 'tagged' });
    expect(replacement).toMatchObject([{ role: 'user', parts: [{ type: 'text' }] }]);
    expect(JSON.stringify(replacement)).toMatch(/<compacted_context>.*Ship it\..*<\/compacted_context>/);
    expect(JSON.stringify(replacement)).not.toContain('last_user_message');
  });

  it.each(['plain', 'tagged'] as const)('never counts as input of the user, in the form %s', async (format) => {
    const { loop, events } = createLoop({ steps: Array.from({ length: 4 }, () => summarizes(goodSummary)) });
    await loop.compact({ format });
    const restored = createLoop({ request: loop.request, state: { snapshot: structuredClone(loop.snapshot()) } });
    for (const world of [{ loop, events }, restored]) {
      await turns(world.loop, 1);
      expect(lifecycleOf(world.events)).toEqual(['started', 'applied']);
      expect(JSON.stringify(eventOf(world.events, 'auto_compaction_applied').replacement)).not.toContain('last_user_message');
    }
    loop.append([assistant('Done.'), user('The real input.')]);
    await turns(loop, 1);
    const [, applied] = events.filter((event) => event.type === 'auto_compaction_applied');
    expect(JSON.stringify(applied?.replacement)).toContain('"text":"The real input."');
  });

  it('stands for the history of a caller who keeps its own, as the automatic one does', async () => {
    const { create, model } = createWrapper();
    const request = longConversation();
    const result = await create.compactor.compact(request);
    await create({ ...request, messages: [...request.messages, assistant('Ok.'), user('Next.')] });
    expect(model.turns[0]?.request.messages).toEqual([...result.request.messages, assistant('Ok.'), user('Next.')]);
  });

  it('asks no gate', async () => {
    const { loop } = createLoop({ when: 'never', request: { ...longConversation(), messages: long.slice(0, 5) } });
    expect((await loop.compact()).request.messages).toHaveLength(2);
  });

  it('streams its text, and says when that is void', async () => {
    const heard: string[] = [];
    const { loop } = createLoop({
      steps: [answers(callsTools(['a'], 'PREAMBLE')), () => streams(['half'], null), () => streams(['## Goal\n', 'Ship.'])],
    });
    const listen = { onText: (text: string) => heard.push(text), onRestart: () => heard.push('|') };
    const result = watch(loop.compact(listen));
    await vi.runAllTimersAsync();
    expect(result.settlement.state).toBe('fulfilled');
    expect(heard).toEqual(['PREAMBLE', '|', 'half', '|', '## Goal\n', 'Ship.']);
  });

  it('says nothing more once it is over', async () => {
    const heard: string[] = [];
    const talk = deferred();
    const { loop } = createLoop({
      summary: {
        timeout: 1000,
        summarizer: async ({ onText, onRestart }) => {
          onText?.('in time');
          await talk.promise;
          onText?.('late');
          onRestart?.();
          return { text: goodSummary };
        },
      },
    });
    const result = watch(loop.compact({ onText: (text) => heard.push(text), onRestart: () => heard.push('|') }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(result.settlement).toMatchObject({ state: 'rejected', reason: { code: 'deadline' } });
    talk.resolve();
    await vi.advanceTimersByTimeAsync(10);
    expect(heard).toEqual(['in time']);
  });

  it.each<[string, Parameters<typeof createLoop>[0], string]>([
    ['the model fails', { steps: [fail] }, 'summarizer-failed'],
    [
      'the request is too long for the model',
      { steps: [1, 2].map(() => throws(httpError(400, 'prompt is too long: 9 tokens > 8 maximum'))) },
      'summarizer-overflow',
    ],
    ['the request is too long for the window', { contextWindow: 500 }, 'summarizer-overflow'],
    ['the model refuses', { steps: [answers(says(null, 'stop', { refusal: 'no' }))] }, 'refused'],
    ['the summary is blank', { steps: [summarizes(' ')] }, 'empty-summary'],
    ['the summary is no summary', { steps: [summarizes('<tool_call>')] }, 'not-a-summary'],
    ['the summary is truncated', { steps: [answers(says('a', 'length')), answers(says('a', 'length'))] }, 'truncated-summary'],
    ['the reply is cut', { steps: [answers(says('a', null)), answers(says('a', null))] }, 'incomplete-reply'],
    ['the model calls tools', { steps: ['a', 'b', 'c', 'd'].map((id) => answers(callsTools([id]))) }, 'tool-calls'],
    ['the summary is not smaller', { steps: [summarizes('s'.repeat(9000))] }, 'not-smaller'],
    ['the summary never comes', { steps: [never] }, 'deadline'],
    ['the store rejects', { commit: () => Promise.reject(new Error('disk full')) }, 'commit-failed'],
    ['the store does not answer', { commit: never, commitTimeout: 10 }, 'commit-in-doubt'],
    ['there is nothing to compact', { request: { ...longConversation(), messages: [user('Hi')] } }, 'nothing-to-compact'],
    ['there is no `send`', { send: undefined as never, when: 'never' }, 'invalid-options'],
    ['the summarizer throws what it likes', { summary: { summarizer: throwing('x') } }, 'summarizer-failed'],
    ['the summarizer returns no text', { summary: { summarizer: async () => ({}) as never } }, 'not-a-summary'],
  ])('fails with a typed error, everything as it was, where %s', async (_name, options, code) => {
    const { loop, events } = createLoop(options);
    const before = loop.request;
    const result = watch(loop.compact());
    await vi.runAllTimersAsync();
    if (result.settlement.state !== 'rejected') throw new Error('Expected a rejection.');
    const { reason } = result.settlement;
    if (!isCompactionError(reason)) throw reason;
    expect(reason).toMatchObject({ code, provider: 'openai-chat', model: 'gpt-5' });
    expect(reason.inputTokens).toBeGreaterThan(0);
    expect(reason.inputBudget).toBeGreaterThan(0);
    expect(reason.message).toMatch(/^Expected .*|^The .*/);
    expect(reason.message).toContain(`(openai-chat, gpt-5, input_tokens=${reason.inputTokens}, budget=${reason.inputBudget})`);
    expect(loop.request).toEqual(before);
    expect(events.filter(({ type }) => type !== 'notice')).toEqual([]);
  });

  it('hands on the cause of a failure', async () => {
    const cause = httpError(401, 'Invalid key');
    const { loop } = createLoop({ steps: [throws(cause)] });
    const error = await loop.compact().catch((thrown: unknown) => thrown);
    expect(isCompactionError(error) && error.cause).toBe(cause);
    const blank = await createLoop({ steps: [summarizes('')] })
      .loop.compact()
      .catch((thrown: unknown) => thrown);
    expect(isCompactionError(blank) && 'cause' in blank).toBe(false);
  });

  it('is cancelled alone, or with its signal', async () => {
    const { loop } = createLoop({ steps: [never, never] });
    const cancelled = watch(loop.compact());
    await vi.advanceTimersByTimeAsync(1);
    loop.cancelCompaction();
    await vi.advanceTimersByTimeAsync(1);
    expect(cancelled.settlement).toMatchObject({
      state: 'rejected',
      reason: { code: 'cancelled', provider: 'openai-chat', model: 'gpt-5', inputBudget: 5904 },
    });
    const abort = new AbortController();
    const aborted = watch(loop.compact({ signal: abort.signal }));
    await vi.advanceTimersByTimeAsync(1);
    abort.abort(null);
    await vi.advanceTimersByTimeAsync(1);
    expect(aborted.settlement).toEqual({ state: 'rejected', reason: null });
    await expect(loop.compact({ signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
    expect(loop.request.messages).toEqual(long);
    expect((await loop.compact()).request.messages).toHaveLength(2);
  });

  it('leaves the gates of automatic compaction alone when it fails', async () => {
    const { loop, events } = createLoop({ steps: [fail, fail, fail, fail] });
    for (let repeat = 0; repeat < 4; repeat++) await loop.compact().catch(() => undefined);
    await loop.send();
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  });

  it('brings back what was appended meanwhile', async () => {
    const summary = deferred<ChatReply>();
    const { loop } = createLoop({ steps: [() => summary.promise] });
    const result = watch(loop.compact());
    await vi.advanceTimersByTimeAsync(1);
    loop.append([user('later')]);
    summary.resolve(says(goodSummary));
    await vi.advanceTimersByTimeAsync(1);
    expect(result.settlement).toMatchObject({
      state: 'fulfilled',
      value: { request: { messages: [long[0], user(goodSummary), user('later')] } },
    });
    expect(loop.request.messages).toHaveLength(3);
  });

  it('waits for an automatic one, and the other way round', async () => {
    const summaries = [deferred<ChatReply>(), deferred<ChatReply>()];
    const steps = summaries.map(
      (summary): Step =>
        () =>
          summary.promise,
    );
    const first = createLoop({ steps });
    const automatic = watch(first.loop.send());
    await vi.advanceTimersByTimeAsync(1);
    const manual = watch(first.loop.compact());
    await vi.advanceTimersByTimeAsync(1);
    expect(first.model.summaries).toHaveLength(1);
    summaries[0]?.reject(new Error('no'));
    await vi.advanceTimersByTimeAsync(1);
    expect(automatic.settlement.state).toBe('fulfilled');
    expect(first.model.summaries).toHaveLength(2);
    summaries[1]?.resolve(says(goodSummary));
    await vi.advanceTimersByTimeAsync(1);
    expect(manual.settlement.state).toBe('fulfilled');
    expect(lifecycleOf(first.events)).toEqual(['started', 'failed: summarizer-failed']);
    expect(first.stored).toHaveLength(1);

    const summary = deferred<ChatReply>();
    const second = createLoop({ steps: [() => summary.promise] });
    const compacting = watch(second.loop.compact());
    await vi.advanceTimersByTimeAsync(1);
    const reply = watch(second.loop.send());
    await vi.advanceTimersByTimeAsync(1);
    expect(reply.settlement.state).toBe('pending');
    summary.resolve(says(goodSummary));
    await vi.advanceTimersByTimeAsync(1);
    expect([compacting.settlement.state, reply.settlement.state]).toEqual(['fulfilled', 'fulfilled']);
    expect(second.model.turns[0]?.request.messages).toEqual([long[0], user(goodSummary)]);
    expect([second.model.summaries.length, second.events.length]).toEqual([1, 0]);
  });

  it('is void where the loop was reset while it waited', async () => {
    const { loop, model } = createLoop({ steps: [never] });
    const reply = watch(loop.send());
    await vi.advanceTimersByTimeAsync(1);
    const manual = watch(loop.compact());
    loop.reset(longConversation());
    await vi.advanceTimersByTimeAsync(1);
    expect([reply.settlement.state, manual.settlement]).toMatchObject([
      'fulfilled',
      { state: 'rejected', reason: { code: 'reset' } },
    ]);
    expect(model.summaries).toHaveLength(1);
    expect(loop.request.messages).toEqual(long);
  });

  it('goes on for a waiting turn when its own caller leaves', async () => {
    const summary = deferred<ChatReply>();
    const { loop, model } = createLoop({ steps: [() => summary.promise] });
    const abort = new AbortController();
    const manual = watch(loop.compact({ signal: abort.signal }));
    await vi.advanceTimersByTimeAsync(1);
    const reply = watch(loop.send());
    await vi.advanceTimersByTimeAsync(1);
    abort.abort('gone');
    await vi.advanceTimersByTimeAsync(1);
    expect([manual.settlement, reply.settlement.state]).toEqual([{ state: 'rejected', reason: 'gone' }, 'pending']);
    summary.resolve(says(goodSummary));
    await vi.advanceTimersByTimeAsync(1);
    expect(reply.settlement.state).toBe('fulfilled');
    expect(model.turns[0]?.request.messages).toHaveLength(2);
  });

  it('reports what it had to repair and change', async () => {
    const messages = [...long.slice(0, 3), ...long.slice(4)];
    const { loop, events } = createLoop({
      request: { ...longConversation(), messages, response_format: { type: 'json_object' } } as never,
    });
    const result = await loop.compact();
    expect(result).toMatchObject({ prefix: 'changed', because: ['response_format', 'repaired history'] });
    expect(result.notices.map(({ code }) => code)).toEqual(['repaired', 'prefix-changed']);
    expect(noticesOf(events)).toEqual(['repaired', 'prefix-changed']);
  });

  it('only has to be smaller', async () => {
    const { loop } = createLoop({ steps: [summarizes('s'.repeat(4900))] });
    const { tokensBefore, tokensAfter } = await loop.compact();
    expect(tokensAfter).toBeLessThan(tokensBefore);
    expect(tokensAfter).toBeGreaterThan(tokensBefore * 0.9);
  });
});

describe('tools', () => {
  it('are attached again to the turn after a compaction (K42)', async () => {
    const { loop, model } = createLoop();
    await loop.send();
    expect(isCompacted(loop.request)).toBe(true);
    expect(model.turns[0]?.request.tools).toEqual([readTool]);
  });
});
