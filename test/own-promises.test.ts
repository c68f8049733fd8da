import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ChatMessage, type ChatReply, type ChatRequest, openaiChat } from '../src/adapters/openai-chat.ts';
import { createCompactor } from '../src/compactor.ts';
import type { CompactionEvent } from '../src/events.ts';
import type { Message } from '../src/message.ts';
import { deferred, microtasks, never, watch } from './support/deferred.ts';
import { freezeDeep } from './support/freeze.ts';
import { createLoop, createWrapper, eventOf, isCompacted, lifecycleOf, type WorldOptions } from './support/harness.ts';
import {
  answers,
  callsTools,
  goodSummary,
  httpError,
  longConversation,
  type Step,
  says,
  streams,
  summarizes,
  throws,
  toolTurn,
} from './support/scripted-model.ts';

/** Both ways to send a turn: what was sent, what came back, what the history is afterwards. */
const faces = {
  loop(options: WorldOptions) {
    const { loop, ...world } = createLoop(options);
    return { ...world, send: (signal?: AbortSignal) => loop.send({ signal }), cancel: () => loop.cancelCompaction() };
  },
  wrapper(options: WorldOptions) {
    const { create, ...world } = createWrapper(options);
    const request = options.request ?? longConversation();
    return {
      ...world,
      send: (signal?: AbortSignal) => create(request, { signal }),
      cancel: () => eventOf(world.events, 'auto_compaction_started').cancel(),
    };
  },
};
const bothFaces = Object.entries(faces);

const unhandled: unknown[] = [];
const remember = (reason: unknown): void => {
  unhandled.push(reason);
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  process.on('unhandledRejection', remember);
});
afterEach(async () => {
  await vi.runAllTimersAsync();
  vi.useRealTimers();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', remember);
  expect(unhandled.splice(0)).toEqual([]);
});

describe.each(bothFaces)('the parent request of the %s', (_name, face) => {
  const request = longConversation();
  const failures: [string, WorldOptions, string][] = [
    ['fails', { steps: [throws(httpError(401, 'Invalid key'))] }, 'failed: summarizer-failed'],
    ['is refused', { steps: [answers(says(null, 'stop', { refusal: 'No.' }))] }, 'failed: refused'],
    ['is blank', { steps: [summarizes('')] }, 'failed: empty-summary'],
    ['is cut twice', { steps: [answers(says('a', null)), answers(says('a', null))] }, 'failed: incomplete-reply'],
    ['is truncated twice', { steps: [answers(says('a', 'length')), answers(says('a', 'length'))] }, 'failed: truncated-summary'],
    ['calls tools', { steps: ['a', 'b', 'c', 'd'].map((id) => answers(callsTools([id]))) }, 'failed: tool-calls'],
    ['is longer than what it replaces', { steps: [summarizes('x'.repeat(9000))] }, 'failed: not-smaller'],
    ['never comes', { steps: [never] }, 'failed: deadline'],
    ['is not stored', { commit: () => Promise.reject(new Error('disk full')) }, 'failed: commit-failed'],
    ['is stored too slowly', { commit: never, commitTimeout: 100 }, 'failed: commit-in-doubt'],
    [
      'overflows twice',
      { steps: [1, 2].map(() => throws(httpError(400, 'prompt is too long: 9 tokens > 8 maximum'))) },
      'failed: summarizer-overflow',
    ],
  ];

  it.each(failures)('is sent once and in full where the summary %s', async (_name, options, end) => {
    const { send, model, events } = face({ request, ...options });
    const reply = watch(send());
    await vi.runAllTimersAsync();
    expect(reply.settlement).toMatchObject({ state: 'fulfilled' });
    expect(lifecycleOf(events)).toEqual(['started', end]);
    expect(model.turns.map((turn) => turn.request)).toEqual([request]);
    model.turns[0]?.request.messages.forEach((message, index) => {
      expect(message).toBe(request.messages[index]);
    });
  });

  it('is sent once and compacted where the summary is good', async () => {
    const { send, model, events, stored } = face({ request });
    await send();
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(stored).toHaveLength(1);
    expect(model.turns).toHaveLength(1);
    const [turn] = model.turns;
    expect(turn?.request.messages).toEqual([
      request.messages[0],
      { role: 'user', content: expect.arrayContaining([{ type: 'text', text: 'Read the second file.' }]) },
    ]);
    expect(turn?.request.tools).toBe(request.tools);
    expect(turn?.context).toMatchObject({ purpose: 'turn', attempt: 1 });
  });

  it('is sent once where the compaction alone was cancelled', async () => {
    const { send, cancel, model, events } = face({ request, steps: [never] });
    const reply = watch(send());
    await vi.advanceTimersByTimeAsync(10);
    cancel();
    await vi.advanceTimersByTimeAsync(0);
    expect(reply.settlement.state).toBe('fulfilled');
    expect(lifecycleOf(events)).toEqual(['started', 'cancelled by child']);
    expect(model.turns.map((turn) => turn.request)).toEqual([request]);
  });

  it('is sent where the compaction is cancelled as it starts, and the summary request is not', async () => {
    const { send, model, events } = face({
      request,
      onEvent(event) {
        events.push(event);
        if (event.type === 'auto_compaction_started') event.cancel();
      },
    });
    await send();
    expect(lifecycleOf(events)).toEqual(['started', 'cancelled by child']);
    expect(model.summaries).toEqual([]);
    expect(model.turns).toHaveLength(1);

    const summarizer = vi.fn(async () => ({ text: goodSummary }));
    const other = face({
      request,
      summary: { summarizer },
      onEvent(event) {
        if (event.type === 'auto_compaction_started') event.cancel();
      },
    });
    await other.send();
    expect(summarizer).not.toHaveBeenCalled();
  });

  it.each([
    ['an error', new Error('stop')],
    ['a text', 'stop'],
    ['null', null],
    ['undefined', undefined],
    ['an object', { stop: true }],
  ])('is not sent where the turn was aborted with %s', async (_name, reason) => {
    const { send, model, events } = face({ request, steps: [never] });
    const abort = new AbortController();
    const reply = watch(send(abort.signal));
    await vi.advanceTimersByTimeAsync(10);
    abort.abort(reason);
    await vi.advanceTimersByTimeAsync(0);
    expect(reply.settlement.state).toBe('rejected');
    if (reply.settlement.state === 'rejected') expect(reply.settlement.reason).toBe(abort.signal.reason);
    expect(lifecycleOf(events)).toEqual(['started', 'cancelled by parent']);
    expect(model.turns).toEqual([]);
  });

  it('is not sent where the turn is aborted as the compaction starts, or as it ends', async () => {
    for (const type of ['auto_compaction_started', 'auto_compaction_applied']) {
      const abort = new AbortController();
      const { send, model, stored } = face({
        request,
        onEvent(event) {
          if (event.type === type) abort.abort('stop');
        },
      });
      await expect(send(abort.signal)).rejects.toBe('stop');
      expect([stored.length, model.turns.length]).toEqual([type.endsWith('applied') ? 1 : 0, 0]);
    }
  });

  it('is not even checked under a signal that is aborted already', async () => {
    const { send, model, events } = face({ request });
    await expect(send(AbortSignal.abort('gone'))).rejects.toBe('gone');
    expect([...model.summaries, ...model.turns, ...events]).toEqual([]);
  });

  it('brings back the very same reply, object or stream, untouched', async () => {
    for (const reply of [says('Done.'), streams(['Done.'])]) {
      const { send } = face({ request, turn: answers(reply) });
      expect(await send()).toBe(reply);
    }
    const stream = streams(['Done.']);
    const next = vi.spyOn(stream, 'next');
    await face({ request, turn: answers(stream) }).send();
    expect(next).not.toHaveBeenCalled();
  });

  it('brings back a reply that cannot be read', async () => {
    const odd: unknown[] = [
      {
        get usage(): never {
          throw new Error('unreadable');
        },
      },
      null,
      'text',
      { usage: { prompt_tokens: 'many' } },
    ];
    for (const reply of odd) expect(await face({ request, turn: answers(reply as ChatReply) }).send()).toBe(reply);
  });

  it('fails with its own error, the very same', async () => {
    for (const error of [httpError(500, 'broken'), 'broken', undefined]) {
      const { send, events } = face({ request, turn: throws(error) });
      const reply = watch(send());
      await vi.runAllTimersAsync();
      if (reply.settlement.state !== 'rejected') throw new Error('Expected a rejection.');
      expect(reply.settlement.reason).toBe(error);
      expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    }
  });

  it('B105: lets the summary request see the abort at once', async () => {
    let seen: AbortSignal | undefined;
    const { send } = face({
      request,
      steps: [
        (_request, { signal }) => {
          seen = signal;
          return never();
        },
      ],
    });
    const abort = new AbortController();
    const reply = watch(send(abort.signal));
    await vi.advanceTimersByTimeAsync(10);
    expect(seen?.aborted).toBe(false);
    abort.abort('stop');
    expect(seen?.aborted).toBe(true);
    await microtasks(30);
    expect(reply.settlement).toEqual({ state: 'rejected', reason: 'stop' });
  });
});

describe('private text', () => {
  const needles = {
    preamble: 'NEEDLE-PREAMBLE',
    failed: 'NEEDLE-FAILED-ATTEMPT',
    denied: 'NEEDLE-DENIED-ROUND',
    rejected: 'NEEDLE-REJECTED-SUMMARY',
    reasoning: 'NEEDLE-REASONING',
    scratchpad: 'NEEDLE-SCRATCHPAD',
    accepted: 'NEEDLE-ACCEPTED',
  };
  const script = (end: Step): Step[] => [
    answers(callsTools(['call_9'], needles.preamble, { reasoning_content: needles.reasoning })),
    (): ChatReply => streams([needles.failed, ' half'], null),
    answers(callsTools(['call_8'], needles.denied)),
    answers(says(`${needles.rejected} cut in mid-wo`, 'length', { reasoning_content: needles.reasoning })),
    end,
  ];

  /** Everything that the host gets to see, apart from the commit. */
  function seen(events: readonly CompactionEvent[], ...more: unknown[]): string {
    const plain = events.map((event) =>
      event.type === 'auto_compaction_failed' ? { ...event, error: { ...event.error, message: event.error.message } } : event,
    );
    return JSON.stringify([plain, more]);
  }

  it.each(bothFaces)('of a good compaction by the %s is seen in the replacement alone', async (_name, face) => {
    const good = `<analysis>${needles.scratchpad}</analysis>## Goal\n${needles.accepted}`;
    const { send, model, events, stored } = face({
      steps: script(answers(says(good, 'stop', { reasoning_content: needles.reasoning }))),
    });
    const reply = watch(send());
    await vi.runAllTimersAsync();
    expect(model.summaries).toHaveLength(5);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    const applied = eventOf(events, 'auto_compaction_applied');
    expect(JSON.stringify(applied.replacement)).toContain(needles.accepted);
    const rest = seen([...events.filter((event) => event !== applied), { ...applied, replacement: [] }], reply.settlement);
    for (const needle of Object.values(needles)) expect(rest).not.toContain(needle);
    const turn = JSON.stringify([model.turns.map(({ request }) => request), stored, applied.replacement]);
    for (const [name, needle] of Object.entries(needles))
      expect([name, turn.includes(needle)]).toEqual([name, name === 'accepted']);
  });

  it.each(bothFaces)('of a compaction by the %s that fails is seen nowhere', async (_name, face) => {
    const ends: Step[] = [
      answers(says(needles.rejected, 'content_filter')),
      answers(says(`I'm sorry, I can't. ${needles.rejected}`)),
      answers(says(`<tool_call>${needles.rejected}`)),
      answers(says(null, 'stop', { refusal: needles.rejected })),
      (): ChatReply => streams([needles.rejected], 'content_filter'),
      answers(says(needles.rejected.repeat(1000))),
    ];
    for (const end of ends) {
      const { send, model, events, stored } = face({ steps: script(end) });
      const reply = watch(send());
      await vi.runAllTimersAsync();
      expect(lifecycleOf(events)[1]).toMatch(/^failed: (refused|not-a-summary|not-smaller)$/);
      const all = seen(
        events,
        reply.settlement,
        stored,
        model.turns.map(({ request }) => request),
      );
      for (const needle of Object.values(needles)) expect(all).not.toContain(needle);
    }
  });

  it('is marked for `send`: every private request and none of the turns', async () => {
    const { loop, model } = createLoop({ steps: script(summarizes()), state: { conversation: 'c1' } });
    const reply = watch(loop.send());
    await vi.runAllTimersAsync();
    expect(reply.settlement.state).toBe('fulfilled');
    const ids = new Set(model.summaries.map(({ context }) => context.compactionId));
    expect(ids.size).toBe(1);
    expect(
      model.summaries.map(({ context: { purpose, attempt, conversation } }) => ({ purpose, attempt, conversation })),
    ).toEqual([1, 2, 3, 4, 5].map((attempt) => ({ purpose: 'summary', attempt, conversation: 'c1' })));
    expect(model.turns.map(({ context: { purpose, attempt, compactionId } }) => ({ purpose, attempt, compactionId }))).toEqual([
      { purpose: 'turn', attempt: 1, compactionId: undefined },
    ]);
  });

  it('goes through `summary.send` where there is one', async () => {
    const privately = vi.fn(async (_request: ChatRequest) => says(goodSummary));
    const { loop, model } = createLoop({ summary: { send: privately } });
    await loop.send();
    expect(privately).toHaveBeenCalledTimes(1);
    expect([model.summaries.length, model.turns.length]).toEqual([0, 1]);
  });
});

describe('several callers of one conversation', () => {
  it.each(['by its content', 'by its name'])(
    'B109: four parallel triggers found %s make one summary, one commit and one pair of events',
    async (how) => {
      const conversation = how === 'by its name' ? 'c1' : undefined;
      for (const delay of [0, 10]) {
        const { create, model, events, stored } = createWrapper({
          steps: [() => new Promise((resolve) => setTimeout(() => resolve(says(goodSummary)), delay))],
        });
        const request = freezeDeep(longConversation());
        const prepared = [1, 2, 3, 4].map(() => create.compactor.prepare(request, { conversation }));
        await vi.runAllTimersAsync();
        const requests = await Promise.all(prepared);
        expect(model.summaries).toHaveLength(1);
        expect(stored).toHaveLength(1);
        expect(lifecycleOf(events)).toEqual(['started', 'applied']);
        for (const sent of requests) expect(isCompacted(sent)).toBe(true);
      }
    },
  );

  it('B109: neither do four calls of one loop, nor four manual compactions at once', async () => {
    const { loop, model, events, stored } = createLoop();
    await Promise.all([1, 2, 3, 4].map(() => loop.send()));
    expect([model.summaries.length, stored.length, model.turns.length]).toEqual([1, 1, 4]);
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);

    let running = 0;
    let most = 0;
    const slow: Step = async () => {
      most = Math.max(most, ++running);
      await microtasks(50);
      running--;
      return says(goodSummary);
    };
    const manual = createLoop({ steps: [slow, slow, slow, slow] });
    const results = await Promise.allSettled([1, 2, 3, 4].map(() => manual.loop.compact()));
    expect(most).toBe(1);
    expect(results[0]?.status).toBe('fulfilled');
    expect(manual.stored).toHaveLength(results.filter(({ status }) => status === 'fulfilled').length);
  });

  it('B102: an aborted one does not abort the others', async () => {
    const summary = deferred<ChatReply>();
    const { create, model, events, stored } = createWrapper({ steps: [() => summary.promise] });
    const request = longConversation();
    const aborts = [1, 2, 3].map(() => new AbortController());
    const calls = aborts.map(({ signal }) => watch(create(request, { signal })));
    await vi.advanceTimersByTimeAsync(10);
    aborts[0]?.abort('first');
    aborts[2]?.abort('third');
    await vi.advanceTimersByTimeAsync(10);
    expect(calls.map(({ settlement }) => settlement)).toEqual([
      { state: 'rejected', reason: 'first' },
      { state: 'pending' },
      { state: 'rejected', reason: 'third' },
    ]);
    summary.resolve(says(goodSummary));
    await vi.advanceTimersByTimeAsync(10);
    expect(calls[1]?.settlement.state).toBe('fulfilled');
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect([model.summaries.length, model.turns.length, stored.length]).toEqual([1, 1, 1]);
  });

  it('the last one to go ends the compaction', async () => {
    const { create, model, events } = createWrapper({ steps: [never] });
    const aborts = [1, 2].map(() => new AbortController());
    const calls = aborts.map(({ signal }) => watch(create(longConversation(), { signal })));
    await vi.advanceTimersByTimeAsync(10);
    for (const [index, abort] of aborts.entries()) abort.abort(index);
    await vi.advanceTimersByTimeAsync(10);
    expect(calls.map(({ settlement }) => settlement)).toEqual([
      { state: 'rejected', reason: 0 },
      { state: 'rejected', reason: 1 },
    ]);
    expect(lifecycleOf(events)).toEqual(['started', 'cancelled by parent']);
    expect(model.turns).toEqual([]);
  });

  it('B104: a later call waits for the compaction under way', async () => {
    const summary = deferred<ChatReply>();
    const { loop, model } = createLoop({ steps: [() => summary.promise] });
    const first = watch(loop.send());
    await vi.advanceTimersByTimeAsync(10);
    const second = watch(loop.send());
    await vi.advanceTimersByTimeAsync(10);
    expect([first.settlement.state, second.settlement.state, model.turns.length]).toEqual(['pending', 'pending', 0]);
    summary.resolve(says(goodSummary));
    await vi.advanceTimersByTimeAsync(10);
    expect(model.turns.map(({ request }) => isCompacted(request))).toEqual([true, true]);
  });

  it('a one-shot request waits for nothing', async () => {
    const { loop, model } = createLoop({ steps: [never] });
    const first = watch(loop.send());
    await vi.advanceTimersByTimeAsync(10);
    await loop.send({ oneShot: true });
    expect([first.settlement.state, model.turns.length]).toEqual(['pending', 1]);
  });

  it('different conversations are compacted side by side', async () => {
    const { create, model, stored } = createWrapper();
    const other: ChatRequest = {
      ...longConversation(),
      messages: longConversation().messages.toSpliced(1, 1, { role: 'user', content: 'Something else.' }),
    };
    await Promise.all([create(longConversation()), create(other)]);
    expect([model.summaries.length, stored.length]).toEqual([2, 2]);
  });
});

describe('what is late', () => {
  it('B106: a summary that never came does not stop the next compaction', async () => {
    const { loop, model, events } = createLoop({ steps: [never, throws(new Error('no'))] });
    for (const end of ['failed: deadline', 'failed: summarizer-failed', 'applied']) {
      const reply = watch(loop.send());
      await vi.runAllTimersAsync();
      expect(reply.settlement.state).toBe('fulfilled');
      expect(lifecycleOf(events.splice(0))).toEqual(['started', end]);
      loop.append(toolTurn(`call_${end}`, 'c'.repeat(3000)));
    }
    expect(model.turns.map(({ request }) => isCompacted(request))).toEqual([false, false, true]);
  });

  it.each(bothFaces)('a summary after its deadline changes nothing in the %s', async (_name, face) => {
    const late = deferred<ChatReply>();
    const { send, model, events, stored } = face({ steps: [() => late.promise], summary: { timeout: 1000 } });
    const reply = watch(send());
    await vi.advanceTimersByTimeAsync(1000);
    expect(reply.settlement.state).toBe('fulfilled');
    const told = [...events];
    late.resolve(says(goodSummary));
    await vi.runAllTimersAsync();
    expect(events).toEqual(told);
    expect(stored).toEqual([]);
    await send();
    expect(model.turns.map(({ request }) => isCompacted(request))).toEqual([false, false]);
  });

  it('a failure of a `send` that was left behind is nobody’s', async () => {
    const late = deferred<ChatReply>();
    const { loop, events } = createLoop({ steps: [() => late.promise], summary: { timeout: 1000 } });
    await Promise.all([loop.send(), vi.advanceTimersByTimeAsync(1000)]);
    late.reject(new Error('late'));
    await vi.runAllTimersAsync();
    expect(lifecycleOf(events)).toEqual(['started', 'failed: deadline']);
  });

  it('a stream that hangs is left behind, and asked to close', async () => {
    const closed = vi.fn(async () => ({ done: true as const, value: undefined }));
    const hanging = { [Symbol.asyncIterator]: () => ({ next: () => never<IteratorResult<object>>(), return: closed }) };
    const { loop, events } = createLoop({ steps: [answers(hanging)], summary: { timeout: 1000 } });
    const reply = watch(loop.send());
    await vi.advanceTimersByTimeAsync(1000);
    expect(reply.settlement.state).toBe('fulfilled');
    expect(lifecycleOf(events)).toEqual(['started', 'failed: deadline']);
    expect(closed).toHaveBeenCalledTimes(1);
  });
});

describe('the overlay of a caller who keeps its own history', () => {
  async function compacted(): Promise<ReturnType<typeof createWrapper> & { request: ChatRequest }> {
    const world = createWrapper();
    const request = longConversation();
    await world.create(request);
    expect(isCompacted(world.model.turns[0]?.request as ChatRequest)).toBe(true);
    return { ...world, request };
  }
  const extend = (request: ChatRequest, ...messages: ChatMessage[]): ChatRequest => ({
    ...request,
    messages: [...request.messages, ...messages],
  });
  const small: ChatMessage[] = [
    { role: 'assistant', content: 'Read.' },
    { role: 'user', content: 'Thanks.' },
  ];

  it('stands for the covered part of every later request, clones included', async () => {
    const { create, model, request } = await compacted();
    const later = structuredClone(extend(request, ...small));
    await create(later);
    const sent = model.turns[1]?.request.messages ?? [];
    expect(sent).toHaveLength(4);
    expect(sent.slice(2)).toEqual(small);
    expect(sent[2]).toBe(later.messages.at(-2));
    expect(model.summaries).toHaveLength(1);
  });

  it('takes the system messages from the current request', async () => {
    const { create, model, request } = await compacted();
    const messages = [{ role: 'system', content: 'Be brief.' }, ...request.messages.slice(1), ...small];
    await create({ ...request, messages });
    expect(model.turns[1]?.request.messages[0]).toBe(messages[0]);
    expect(model.turns[1]?.request.messages).toHaveLength(4);
  });

  it.each<[string, (request: ChatRequest) => ChatRequest]>([
    [
      'edited inside the covered part',
      (request) => ({
        ...request,
        messages: request.messages.with(3, { ...request.messages[3], content: 'edited' } as ChatMessage),
      }),
    ],
    ['rewound inside the covered part', (request) => ({ ...request, messages: request.messages.slice(0, 5) })],
    ['shortened at its start', (request) => ({ ...request, messages: request.messages.toSpliced(1, 1) })],
  ])('is lost for a history that was %s: it is sent in full', async (_name, change) => {
    for (const conversation of [undefined, 'c1']) {
      const { create, model } = createWrapper({ summary: { retries: 0 }, steps: [summarizes(), throws(new Error('no'))] });
      const request = longConversation();
      await create(request, { conversation });
      const changed = change(request);
      await create(changed, { conversation });
      expect(model.turns[1]?.request.messages).toEqual(changed.messages);
    }
  });

  it('is lost too where an item was edited in place', async () => {
    const { create, model } = createWrapper({ summary: { retries: 0 }, steps: [summarizes(), throws(new Error('no'))] });
    const request = longConversation();
    await create(request);
    (request.messages[3] as { content: string }).content = 'short';
    const later = extend(request, ...small);
    await create(later);
    expect(model.turns[1]?.request.messages).toEqual(later.messages);
  });

  it('belongs to a named conversation alone', async () => {
    const { create, model } = createWrapper({ steps: [summarizes(), throws(new Error('no'))], summary: { retries: 0 } });
    const request = longConversation();
    await create(request, { conversation: 'c1' });
    await create(extend(request, ...small), { conversation: 'c2' });
    await create(extend(request, ...small), { conversation: 'c1' });
    expect(model.turns.map((turn) => isCompacted(turn.request))).toEqual([true, false, true]);
  });

  it('B111: never touches the history of the caller', async () => {
    const request = freezeDeep(longConversation());
    const { create, model } = createWrapper();
    await create(request);
    await create(freezeDeep(extend(request, ...small)));
    expect(request).toEqual(longConversation());
    expect(model.turns).toHaveLength(2);
  });
});

describe('mutating', () => {
  /** Overwrites every field and empties every array. */
  function destroy(value: unknown, depth = 0): void {
    if (typeof value !== 'object' || value === null || depth > 8 || value instanceof Error) return;
    for (const entry of Object.values(value)) destroy(entry, depth + 1);
    if (Array.isArray(value)) value.length = 0;
    else for (const key of Object.keys(value)) Reflect.set(value, key, 'DESTROYED');
  }

  it.each(bothFaces)('events and commits changes nothing in the %s', async (_name, face) => {
    const request = longConversation();
    const untouched = face({ request });
    await untouched.send();
    await untouched.send();
    const { send, model } = face({
      request: longConversation(),
      commit: async (commit) => destroy(commit),
      onEvent: (event) => {
        if (event.type !== 'auto_compaction_failed') destroy(event);
      },
    });
    await send();
    await send();
    expect(model.turns.map((turn) => turn.request)).toEqual(untouched.model.turns.map((turn) => turn.request));
    expect(JSON.stringify(model.turns)).not.toContain('DESTROYED');
  });

  it('the estimate, the history, the snapshot and the request of a loop changes nothing', async () => {
    const { loop } = createLoop({ state: { conversation: 'c1' } });
    await loop.send();
    const before = structuredClone({ request: loop.request, history: loop.history, snapshot: loop.snapshot() });
    destroy(loop.estimate());
    destroy(loop.history);
    destroy(loop.snapshot());
    (loop.request.messages as ChatMessage[]).length = 0;
    const prepared = await loop.prepare();
    (prepared.messages as ChatMessage[]).length = 0;
    expect({ request: loop.request, history: loop.history, snapshot: loop.snapshot() }).toEqual(before);
  });

  it('the array that a loop was started with changes nothing', () => {
    const request = longConversation();
    const { loop } = createLoop({ request });
    (request.messages as ChatMessage[]).push({ role: 'user', content: 'later' });
    expect(loop.request.messages).toHaveLength(longConversation().messages.length);
    loop.reset(request);
    (request.messages as ChatMessage[]).length = 0;
    expect(loop.request.messages).toHaveLength(longConversation().messages.length + 1);
  });

  it('a plan and the result of a manual compaction changes nothing', async () => {
    const { create, model } = createWrapper();
    const request = longConversation();
    destroy(await create.compactor.plan(request));
    await create(request);
    expect(JSON.stringify(model.turns)).not.toContain('DESTROYED');

    const manual = createLoop();
    const result = await manual.loop.compact();
    const before = structuredClone(manual.loop.request);
    destroy(result.replacement);
    destroy(result.notices);
    destroy(result.usage);
    (result.request.messages as ChatMessage[]).length = 0;
    expect(manual.loop.request).toEqual(before);
  });

  it('what a summarizer or `isUserInput` is given changes nothing', async () => {
    const { loop, model } = createLoop({
      summary: {
        summarizer: async ({ messages }) => {
          destroy(messages);
          return { text: goodSummary };
        },
      },
      retain: {
        isUserInput: (message: Message) => {
          const isText = message.parts.some((part) => part.type === 'text');
          destroy(message);
          return isText;
        },
      },
    });
    await loop.send();
    expect(isCompacted(model.turns[0]?.request as ChatRequest)).toBe(true);
    expect(JSON.stringify([model.turns, loop.history])).not.toContain('DESTROYED');
  });
});

describe('observers', () => {
  const faults: [string, () => unknown][] = [
    [
      'throw',
      () => {
        throw new Error('broken observer');
      },
    ],
    ['reject', () => Promise.reject(new Error('broken observer'))],
    ['never settle', () => never()],
    [
      'throw nothing',
      () => {
        throw undefined;
      },
    ],
  ];

  it.each(faults)('that %s change nothing', async (_name, fault) => {
    for (const [, face] of bothFaces) {
      const { send, model, stored } = face({ onEvent: () => fault() });
      await send();
      expect([model.summaries.length, model.turns.length, stored.length]).toEqual([1, 1, 1]);
      const failing = face({ onEvent: () => fault(), steps: [throws(new Error('no'))] });
      await failing.send();
      expect([failing.model.summaries.length, failing.model.turns.length]).toEqual([1, 1]);
    }
  });

  it.each(faults)('of the text of a manual compaction that %s change nothing', async (_name, fault) => {
    const { loop } = createLoop({ steps: [answers(callsTools(['a'], 'x')), () => streams(['## Goal\n', 'Ship.'])] });
    const result = await loop.compact({ onText: () => fault(), onRestart: () => fault() });
    expect(result.replacement).toMatchObject([{ parts: [{ type: 'text', text: '## Goal\nShip.' }] }]);
  });

  it('may use the loop while they are told', async () => {
    const later: ChatMessage = { role: 'user', content: 'By the way.' };
    const { loop, model, events } = createLoop({
      onEvent(event) {
        events.push(event);
        if (event.type === 'auto_compaction_started' || event.type === 'auto_compaction_applied') loop.append([later]);
      },
    });
    await loop.send();
    expect(lifecycleOf(events)).toEqual(['started', 'applied']);
    expect(model.turns[0]?.request.messages.slice(2)).toEqual([later, later]);
  });
});

describe('what comes in while a summary is written', () => {
  it('B052, B053, B098: stays behind the replacement, in order, the very same items', async () => {
    const summary = deferred<ChatReply>();
    const storing = deferred();
    const { loop, model, stored } = createLoop({
      steps: [() => summary.promise],
      commit: (commit) => {
        stored.push(commit);
        return storing.promise;
      },
    });
    const items: ChatMessage[] = ['one', 'two', 'three'].map((content) => ({ role: 'user', content }));
    const reply = watch(loop.send());
    await vi.advanceTimersByTimeAsync(10);
    loop.append(items.slice(0, 1));
    loop.append(items.slice(1, 2));
    summary.resolve(says(goodSummary));
    await vi.advanceTimersByTimeAsync(10);
    expect(stored).toHaveLength(1);
    loop.append(items.slice(2));
    storing.resolve();
    await vi.advanceTimersByTimeAsync(10);
    expect(reply.settlement.state).toBe('fulfilled');
    const sent = model.turns[0]?.request.messages ?? [];
    expect(sent).toHaveLength(5);
    expect(sent.slice(2).every((item, index) => item === items[index])).toBe(true);
    expect(loop.request.messages).toEqual(sent);
    expect(stored[0]?.covered).toBe(longConversation().messages.length);
  });

  it('is kept by the wrapper for a caller who pushes into its own array', async () => {
    const summary = deferred<ChatReply>();
    const { create, model } = createWrapper({ steps: [() => summary.promise] });
    const messages = [...longConversation().messages];
    const reply = watch(create({ ...longConversation(), messages }));
    await vi.advanceTimersByTimeAsync(10);
    const later: ChatMessage = { role: 'user', content: 'later' };
    messages.push(later);
    summary.resolve(says(goodSummary));
    await vi.advanceTimersByTimeAsync(10);
    expect(reply.settlement.state).toBe('fulfilled');
    expect(model.turns[0]?.request.messages[2]).toBe(later);
    expect(messages).toHaveLength(longConversation().messages.length + 1);
  });

  it('stays where the compaction fails', async () => {
    const summary = deferred<ChatReply>();
    const { loop, model } = createLoop({ steps: [() => summary.promise] });
    const reply = watch(loop.send());
    await vi.advanceTimersByTimeAsync(10);
    const later = toolTurn('call_3', 'c');
    loop.append(later);
    summary.reject(new Error('no'));
    await vi.advanceTimersByTimeAsync(10);
    expect(reply.settlement.state).toBe('fulfilled');
    expect(model.turns[0]?.request.messages).toEqual([...longConversation().messages, ...later]);
  });
});

describe('what a function of the host throws', () => {
  it('is in no event: it may hold a secret', async () => {
    const secret = 'sk-4242';
    const throwing = (): never => {
      throw new TypeError(`no access with ${secret}`);
    };
    const options = [{ contextWindow: throwing }, { budget: { countTokens: throwing } }, { retain: { isUserInput: throwing } }];
    for (const option of options) {
      const told: unknown[] = [];
      const request = {
        model: 'gpt-5',
        messages: [
          { role: 'user', content: 'a'.repeat(900_000) },
          { role: 'assistant', content: 'Hm.' },
        ],
      };
      const compactor = createCompactor({
        adapter: openaiChat(),
        contextWindow: 20_000,
        send: async (): Promise<never> => throwing(),
        ...option,
        onEvent: (event) => void told.push(event),
      });
      expect(await compactor.prepare(request)).toBe(request);
      expect(told.length).toBeGreaterThan(0);
      expect(JSON.stringify(told)).not.toContain(secret);
    }
  });
});
