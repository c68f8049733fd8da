import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChatMessage, ChatReply, ChatRequest } from '../src/adapters/openai-chat.ts';
import type { CompactionObserver } from '../src/events.ts';
import { type Deferred, deferred, never, watch } from './support/deferred.ts';
import { createLoop, createWrapper, eventOf, isCompacted, type LoopWorld, lifecycleOf, noticesOf } from './support/harness.ts';
import {
  answers,
  callsTools,
  goodSummary,
  httpError,
  longConversation,
  readTool,
  says,
  summarizes,
  throws,
  toolTurn,
} from './support/scripted-model.ts';

const long = longConversation().messages;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A loop whose store answers when the test says so, sent as far as the store. */
async function storing(
  options: Parameters<typeof createLoop>[0] = {},
): Promise<LoopWorld & { store: Deferred<void>; abort: AbortController; reply: ReturnType<typeof watch<ChatReply>> }> {
  const store = deferred();
  const world = createLoop({
    ...options,
    commit: (commit) => {
      world.stored.push(commit);
      return store.promise;
    },
  });
  const abort = new AbortController();
  const reply = watch(world.loop.send({ signal: abort.signal }));
  await vi.advanceTimersByTimeAsync(1);
  expect(world.stored).toHaveLength(1);
  return { ...world, store, abort, reply };
}

describe('the commit', () => {
  it('says what is covered and by what, before anything is installed', async () => {
    const { loop, stored, events, model } = await storing({ state: { conversation: 'c1' } });
    const [commit] = stored;
    expect(commit).toMatchObject({
      compactionId: eventOf(events, 'auto_compaction_started').compactionId,
      conversation: 'c1',
      trigger: 'automatic',
      covered: long.length,
      usage: { inputTokens: 1000, outputTokens: 100 },
      snapshot: { version: 1, conversation: 'c1' },
    });
    expect(commit?.replacement.map(({ role }) => role)).toEqual(['user']);
    expect(isCompacted(commit?.request as ChatRequest)).toBe(true);
    expect(commit?.request.tools).toEqual([readTool]);
    expect(loop.request.messages).toEqual(long);
    expect(model.turns).toEqual([]);
  });

  it('is the point of no return: cancel, deadline and abort wait for it, then the abort is delivered', async () => {
    const { loop, events, store, abort, reply, model } = await storing({ summary: { timeout: 1000 } });
    loop.cancelCompaction();
    eventOf(events, 'auto_compaction_started').cancel();
    await vi.advanceTimersByTimeAsync(5000);
    abort.abort('stop');
    await vi.advanceTimersByTimeAsync(5000);
    expect(reply.settlement.state).toBe('pending');
    expect(lifecycleOf(events)).toEqual(['started']);
    store.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(reply.settlement).toEqual({ state: 'rejected', reason: 'stop' });
    expect(isCompacted(loop.request)).toBe(true);
    expect(model.turns).toEqual([]);
  });

  it('B099, B108: that rejects leaves everything as it was', async () => {
    const { loop, events, store, reply, model } = await storing();
    const cause = new Error('disk full');
    store.reject(cause);
    await vi.advanceTimersByTimeAsync(0);
    expect(reply.settlement.state).toBe('fulfilled');
    const { error, usage } = eventOf(events, 'auto_compaction_failed');
    expect(error).toMatchObject({ code: 'commit-failed', provider: 'openai-chat', model: 'gpt-5' });
    expect(error.cause).toBe(cause);
    expect(usage).toEqual({ inputTokens: 1000, outputTokens: 100 });
    expect(model.turns[0]?.request.messages).toEqual(long);
    expect(loop.request.messages).toEqual(long);
    expect(loop.snapshot().replacements).toEqual([]);
  });

  it('takes its time where no time is set', async () => {
    const { store, reply } = await storing();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(reply.settlement.state).toBe('pending');
    store.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(reply.settlement.state).toBe('fulfilled');
  });
});

describe('a commit in doubt', () => {
  async function doubtful(): ReturnType<typeof storing> {
    const world = await storing({ commitTimeout: 200 });
    await vi.advanceTimersByTimeAsync(200);
    expect(world.reply.settlement.state).toBe('fulfilled');
    expect(lifecycleOf(world.events)).toEqual(['started', 'failed: commit-in-doubt']);
    expect(world.model.turns[0]?.request.messages).toEqual(long);
    world.loop.append(toolTurn('call_3', 'c'.repeat(3000)));
    return world;
  }

  it('suspends compaction, automatic and manual, and nothing else', async () => {
    const { loop, events, model, stored } = await doubtful();
    await loop.send();
    await expect(loop.compact()).rejects.toMatchObject({
      code: 'commit-in-doubt',
      provider: 'openai-chat',
      model: 'gpt-5',
      inputTokens: expect.any(Number),
      inputBudget: 5904,
      message: expect.stringContaining(stored[0]?.compactionId ?? '?'),
    });
    expect(lifecycleOf(events)).toHaveLength(2);
    expect([model.summaries.length, model.turns.length]).toEqual([1, 2]);
    expect(loop.snapshot().trigger.inDoubt).toBe(stored[0]?.compactionId);
  });

  it('is installed when the store answers after all, in front of what came meanwhile', async () => {
    const { loop, events, store } = await doubtful();
    store.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(isCompacted(loop.request)).toBe(true);
    expect(loop.request.messages.slice(2)).toEqual(toolTurn('call_3', 'c'.repeat(3000)));
    expect(noticesOf(events)).toEqual(['commit-reconciled']);
    expect(lifecycleOf(events)).toHaveLength(2); // one terminal event
    expect(loop.snapshot().trigger).toMatchObject({ inDoubt: undefined, failures: 0 });
    expect((await loop.compact()).tokensAfter).toBeGreaterThan(0);
  });

  it('is lifted when the store rejects after all', async () => {
    const { loop, events, store } = await doubtful();
    store.reject(new Error('late'));
    await vi.advanceTimersByTimeAsync(0);
    expect(loop.request.messages.slice(0, long.length)).toEqual(long);
    expect(noticesOf(events)).toEqual(['commit-reconciled']);
    await loop.send();
    expect(lifecycleOf(events).slice(2)).toEqual(['started', 'failed: commit-failed']); // tried again, with the same broken store
  });

  it.each([true, false])('is ended by `reconcile`, stored: %s; a later answer of the store changes nothing', async (stored) => {
    const { loop, store, stored: commits, events } = await doubtful();
    const id = commits[0]?.compactionId ?? '?';
    expect(loop.reconcile('another', true)).toBe(false);
    expect(loop.reconcile(id, stored)).toBe(true);
    expect(loop.reconcile(id, stored)).toBe(false);
    expect(isCompacted(loop.request)).toBe(stored);
    const { request } = loop;
    store.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(loop.request).toEqual(request);
    expect(noticesOf(events)).toEqual(['commit-reconciled']);
    await loop.compact();
    expect(loop.request.messages).toHaveLength(2);
  });

  it('is ended by `reconcile` in another process', async () => {
    const { loop, stored } = await doubtful();
    const restored = createLoop({ request: loop.request, state: { snapshot: structuredClone(loop.snapshot()) } });
    await restored.loop.send();
    expect(restored.events).toEqual([]);
    expect(restored.loop.reconcile(stored[0]?.compactionId ?? '?', false)).toBe(true);
    await restored.loop.send();
    expect(lifecycleOf(restored.events)).toEqual(['started', 'applied']);
  });

  it('is nobody’s any more after a reset', async () => {
    const { loop, store, events } = await doubtful();
    loop.reset(longConversation());
    store.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(loop.request.messages).toEqual(long);
    expect(loop.snapshot().trigger.inDoubt).toBeUndefined();
    await loop.send();
    expect(lifecycleOf(events).slice(2)).toEqual(['started', 'applied']);
  });

  it('is not installed over a history that was changed meanwhile', async () => {
    const store = deferred();
    const { create, events } = createWrapper({ commit: () => store.promise, commitTimeout: 200 });
    const messages = [...long];
    const reply = watch(create({ ...longConversation(), messages }));
    await vi.advanceTimersByTimeAsync(300);
    expect(reply.settlement.state).toBe('fulfilled');
    messages.splice(2, 2);
    store.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(noticesOf(events)).toEqual(['commit-reconciled']);
    const prepared = await create.compactor.prepare({ ...longConversation(), messages }, { oneShot: true });
    expect(prepared.messages).toBe(messages);
  });

  it('of a wrapper is found by its id', async () => {
    const store = deferred();
    const { create, events, stored } = createWrapper({
      commitTimeout: 200,
      commit: (commit) => {
        stored.push(commit);
        return store.promise;
      },
    });
    const request = longConversation();
    await Promise.all([create(request), vi.advanceTimersByTimeAsync(300)]);
    expect(lifecycleOf(events)).toEqual(['started', 'failed: commit-in-doubt']);
    expect(create.compactor.reconcile('another', true)).toBe(false);
    expect(create.compactor.reconcile(stored[0]?.compactionId ?? '?', true)).toBe(true);
    expect(isCompacted(await create.compactor.prepare(request))).toBe(true);
  });
});

describe('a history that changes while it is compacted', () => {
  it.each<[string, (messages: ChatMessage[]) => void]>([
    ['an item edited in place', (messages) => void Object.assign(messages[3] as object, { content: 'edited' })],
    ['an item exchanged', (messages) => void messages.splice(1, 1, { role: 'user', content: 'other' })],
    ['an item removed', (messages) => void messages.splice(2, 2)],
    ['emptied', (messages) => void messages.splice(0)],
    ['made unreadable', (messages) => void messages.splice(1, 1, null as never)],
  ])('makes the summary stale: %s', async (_name, change) => {
    const summary = deferred<ChatReply>();
    const { create, events, stored, model } = createWrapper({ steps: [() => summary.promise] });
    const messages = structuredClone(long) as ChatMessage[];
    const request: ChatRequest = { ...longConversation(), messages };
    const reply = watch(create(request));
    await vi.advanceTimersByTimeAsync(1);
    change(messages);
    summary.resolve(says(goodSummary));
    await vi.advanceTimersByTimeAsync(0);
    expect(reply.settlement.state).toBe('fulfilled');
    expect(lifecycleOf(events)).toEqual(['started', 'failed: stale']);
    expect(stored).toEqual([]);
    expect(model.turns.map((turn) => turn.request)).toEqual([request]);
  });

  it('may grow at its end', async () => {
    const summary = deferred<ChatReply>();
    const { create, events } = createWrapper({ steps: [() => summary.promise] });
    const messages = [...long];
    const reply = watch(create({ ...longConversation(), messages }));
    await vi.advanceTimersByTimeAsync(1);
    messages.push({ role: 'user', content: 'more' });
    summary.resolve(says(goodSummary));
    await vi.advanceTimersByTimeAsync(0);
    expect(reply.settlement.state).toBe('fulfilled');
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
  });

  it('may get other system messages and tools', async () => {
    const summary = deferred<ChatReply>();
    const { loop, events, model } = createLoop({ steps: [() => summary.promise] });
    const reply = watch(loop.send());
    await vi.advanceTimersByTimeAsync(1);
    loop.update({ system: 'Be brief.', params: { tools: [] } });
    summary.resolve(says(goodSummary));
    await vi.advanceTimersByTimeAsync(0);
    expect(reply.settlement.state).toBe('fulfilled');
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(model.turns[0]?.request).toMatchObject({ tools: [], messages: [{ content: 'Be brief.' }, { role: 'user' }] });
  });
});

describe('a reset in flight', () => {
  it.each(['while the summary is written', 'while it is stored, which succeeds', 'while it is stored, which fails'])(
    'B098: wins %s',
    async (when) => {
      const summary = deferred<ChatReply>();
      const store = deferred();
      const { loop, events, model } = createLoop({ steps: [() => summary.promise], commit: () => store.promise });
      const reply = watch(loop.send());
      await vi.advanceTimersByTimeAsync(1);
      if (when.includes('stored')) summary.resolve(says(goodSummary));
      await vi.advanceTimersByTimeAsync(1);
      const fresh = { ...longConversation(), messages: [{ role: 'user', content: 'Start over.' }] };
      loop.reset(fresh);
      summary.resolve(says(goodSummary));
      if (when.includes('fails')) store.reject(new Error('disk full'));
      else store.resolve();
      await vi.advanceTimersByTimeAsync(1);
      expect(lifecycleOf(events)).toEqual(['started', 'failed: reset']);
      expect(loop.request.messages).toEqual(fresh.messages);
      expect(reply.settlement.state).toBe('fulfilled');
      expect(model.turns.map(({ request }) => request)).toEqual([fresh]);
      expect(loop.snapshot()).toMatchObject({ replacements: [], trigger: { failures: 0 } });
    },
  );

  it('lets the next compaction go on', async () => {
    const { loop, events, model } = createLoop({ steps: [never] });
    const first = watch(loop.send());
    await vi.advanceTimersByTimeAsync(1);
    loop.reset(longConversation());
    await loop.send();
    expect(first.settlement.state).toBe('fulfilled');
    expect(lifecycleOf(events)).toEqual(['started', 'failed: reset', 'started', 'applied']);
    expect(model.summaries).toHaveLength(2);
  });

  it('to the same conversation is a reset all the same', async () => {
    const store = deferred();
    const { loop, events } = createLoop({ commit: () => store.promise });
    const reply = watch(loop.compact());
    await vi.advanceTimersByTimeAsync(1);
    loop.reset(longConversation());
    store.resolve();
    await vi.advanceTimersByTimeAsync(1);
    expect(reply.settlement).toMatchObject({ state: 'rejected', reason: { code: 'reset' } });
    expect(loop.request.messages).toEqual(long);
    expect(events).toEqual([]);
  });
});

describe('events', () => {
  it('come in order, with what they tell', async () => {
    const { loop, events } = createLoop({ state: { conversation: 'c1' } });
    await loop.send();
    const [started, applied, ...others] = events;
    expect(others).toEqual([]);
    expect(started).toMatchObject({
      type: 'auto_compaction_started',
      conversation: 'c1',
      compactionId: expect.stringMatching(/^[\w-]{8,}$/),
      estimate: { threshold: 500, inputBudget: 5904, overThreshold: true, counter: 'custom' },
    });
    expect(applied).toMatchObject({
      type: 'auto_compaction_applied',
      conversation: 'c1',
      compactionId: started && 'compactionId' in started && started.compactionId,
      prefix: 'kept',
      because: [],
      usage: { inputTokens: 1000, outputTokens: 100 },
      replacement: [
        { role: 'user', parts: [{ type: 'text' }, { type: 'text', text: 'Read the second file.' }, { type: 'text' }] },
      ],
    });
    if (applied?.type !== 'auto_compaction_applied' || started?.type !== 'auto_compaction_started') throw new Error('Never.');
    expect(applied.tokensBefore).toBe(started.estimate.tokens);
    expect(applied.tokensAfter).toBe(loop.estimate().tokens);
  });

  it('tell of the applied compaction when it is installed', async () => {
    const seen: boolean[] = [];
    const observe: CompactionObserver = (event) => {
      if (event.type !== 'notice') seen.push(isCompacted(loop.request));
    };
    const { loop } = createLoop({ onEvent: observe });
    await loop.send();
    expect(seen).toEqual([false, true]);
  });

  it('report a changed prefix and a repaired history', async () => {
    const messages = [...long.slice(0, 3), ...long.slice(4)]; // the first result is missing
    const { loop, events } = createLoop({
      request: { ...longConversation(), messages, response_format: { type: 'json_object' } } as never,
    });
    await loop.send();
    expect(eventOf(events, 'auto_compaction_applied')).toMatchObject({
      prefix: 'changed',
      because: ['response_format', 'repaired history'],
    });
    expect(noticesOf(events)).toEqual(['repaired', 'prefix-changed']);
  });

  it('say once that a compacted request is still over the threshold', async () => {
    const { loop, events } = createLoop({ budget: { threshold: 1, countTokens: (text) => Math.ceil(text.length / 4) } });
    await loop.send();
    loop.append(toolTurn('call_3', 'c'.repeat(6000)));
    await loop.send();
    expect(lifecycleOf(events)).toEqual(['started', 'applied', 'started', 'applied']);
    expect(noticesOf(events)).toEqual(['still-over-threshold']);
    loop.append([
      { role: 'assistant', content: 'Read.' },
      { role: 'user', content: 'Next.' },
      ...toolTurn('call_4', 'd'.repeat(6000)),
    ]);
    await loop.send();
    expect(noticesOf(events)).toEqual(['still-over-threshold', 'still-over-threshold']);
  });
});

describe('usage', () => {
  const sum = (count: number) => ({ inputTokens: 1000 * count, outputTokens: 100 * count });

  it('is summed over rounds and attempts in the event of success, and in the commit', async () => {
    const { loop, events, stored } = createLoop({
      steps: [answers(callsTools(['a'])), answers(says('half', 'length')), () => says('half', null), summarizes()],
    });
    await Promise.all([loop.send(), vi.runAllTimersAsync()]);
    expect(eventOf(events, 'auto_compaction_applied').usage).toEqual(sum(4));
    expect(stored[0]?.usage).toEqual(sum(4));
  });

  it('is in the event of failure', async () => {
    const { loop, events } = createLoop({ steps: [answers(callsTools(['a'])), answers(says(null, 'content_filter'))] });
    await loop.send();
    expect(eventOf(events, 'auto_compaction_failed').usage).toEqual(sum(2));
  });

  it('is in the event of cancellation, by child and by parent', async () => {
    for (const by of ['child', 'parent'] as const) {
      const abort = new AbortController();
      const { loop, events } = createLoop({ steps: [answers(callsTools(['a'])), never] });
      const reply = watch(loop.send({ signal: abort.signal }));
      await vi.advanceTimersByTimeAsync(1);
      if (by === 'child') loop.cancelCompaction();
      else abort.abort();
      await vi.advanceTimersByTimeAsync(0);
      expect(reply.settlement.state).not.toBe('pending');
      expect(eventOf(events, 'auto_compaction_cancelled')).toMatchObject({ by, usage: sum(1) });
    }
  });

  it('is absent where no reply told any', async () => {
    const { loop, events } = createLoop({ steps: [throws(httpError(401, 'no'))] });
    await loop.send();
    expect(eventOf(events, 'auto_compaction_failed').usage).toBeUndefined();
  });
});
