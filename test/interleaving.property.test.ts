import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ChatMessage, type ChatReply, openaiChat } from '../src/adapters/openai-chat.ts';
import type { CompactionEvent } from '../src/events.ts';
import { AutoCompactingLoop } from '../src/loop.ts';
import { validateOpenAiChat } from '../src/testing/wire/openai-chat.ts';
import { type Deferred, deferred, type Settlement, watch } from './support/deferred.ts';
import { freezeDeep } from './support/freeze.ts';
import { goodSummary, httpError, longConversation, says, smallBudget, toolTurn } from './support/scripted-model.ts';

/** What a host, its user and its store do, in any order. */
type Action =
  | { kind: 'append' | 'send' | 'compact' | 'cancel' | 'reset' }
  | { kind: 'abort' | 'reconcile'; pick: number }
  | { kind: 'answer'; how: 'good' | 'blank' | 'fails' }
  | { kind: 'store'; succeeds: boolean }
  | { kind: 'wait'; milliseconds: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Action>({ kind: 'append' }, { kind: 'send' }, { kind: 'send' }) },
  { weight: 2, arbitrary: fc.constantFrom<Action>({ kind: 'compact' }, { kind: 'cancel' }, { kind: 'reset' }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('abort' as const, 'reconcile' as const), pick: fc.nat(9) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      how: fc.constantFrom('good' as const, 'good' as const, 'good' as const, 'blank' as const, 'fails' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('store' as const), succeeds: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), milliseconds: fc.constantFrom(10, 450, 450, 1100) }) },
);

const timeout = 1000;
const commitTimeout = 400;
const replaced = 'the replacement';

interface Commit {
  id: string;
  covered: number;
  generation: number;
  answer: Deferred<void>;
  state: 'open' | 'doubt' | 'over';
  deadline: number;
}

/** A host with a loop, and beside it the history that the loop must have. */
function createHost() {
  const events: CompactionEvent[] = [];
  const summaries: { answer: Deferred<ChatReply>; signal: AbortSignal; answered: boolean }[] = [];
  const commits: Commit[] = [];
  const calls: { settled: { settlement: Settlement<unknown> }; abort: AbortController; isTurn: boolean }[] = [];
  let turns = 0;
  let now = 0;
  let serial = 0;
  let generation = 0;
  const freshItems = (): ChatMessage[] => freezeDeep([...longConversation().messages]);
  const request = { ...longConversation(), messages: freshItems() };
  let expected: (ChatMessage | typeof replaced)[] = [...request.messages];

  const loop = new AutoCompactingLoop(request, {
    adapter: openaiChat(),
    ...smallBudget,
    contextWindow: 60_000,
    summary: { timeout, retries: 0 },
    commitTimeout,
    async send(sent, { purpose, signal }) {
      freezeDeep(sent);
      expect(validateOpenAiChat(sent)).toEqual([]);
      if (purpose === 'turn') {
        turns++;
        return { ...says('Done.'), usage: null };
      }
      const summary = { answer: deferred<ChatReply>(), signal, answered: false };
      summaries.push(summary);
      return summary.answer.promise;
    },
    commit({ compactionId, covered }) {
      const commit: Commit = {
        id: compactionId,
        covered,
        generation,
        answer: deferred(),
        state: 'open',
        deadline: now + commitTimeout,
      };
      commits.push(commit);
      return commit.answer.promise;
    },
    onEvent: (event) => {
      events.push(event);
    },
  });

  function install({ covered, generation: from }: Commit): void {
    if (from !== generation) return;
    const [system] = expected;
    expected = [...(system ? [system] : []), replaced, ...expected.slice(covered)];
  }

  async function pass(milliseconds: number): Promise<void> {
    now += milliseconds;
    for (const commit of commits) if (commit.state === 'open' && commit.deadline <= now) commit.state = 'doubt';
    await vi.advanceTimersByTimeAsync(milliseconds);
  }

  async function perform(step: Action): Promise<void> {
    switch (step.kind) {
      case 'append': {
        const items = freezeDeep(toolTurn(`call_n${serial++}`, 'n'.repeat(2500)));
        expected.push(...items);
        loop.append(items);
        break;
      }
      case 'send':
      case 'compact': {
        const abort = new AbortController();
        const { signal } = abort;
        const isTurn = step.kind === 'send';
        calls.push({ settled: watch<unknown>(isTurn ? loop.send({ signal }) : loop.compact({ signal })), abort, isTurn });
        break;
      }
      case 'cancel':
        loop.cancelCompaction();
        break;
      case 'reset': {
        generation++;
        const messages = freshItems();
        expected = [...messages];
        loop.reset({ ...longConversation(), messages });
        break;
      }
      case 'abort':
        calls[step.pick % Math.max(1, calls.length)]?.abort.abort('stop');
        break;
      case 'answer': {
        const open = summaries.find(({ answered }) => !answered);
        if (!open) break;
        open.answered = true;
        if (step.how === 'fails') open.answer.reject(httpError(400, 'no'));
        else open.answer.resolve(says(step.how === 'good' ? goodSummary : ' '));
        break;
      }
      case 'store': {
        const open = commits.find(({ state }) => state !== 'over');
        if (!open) break;
        open.state = 'over';
        if (!step.succeeds) open.answer.reject(new Error('disk full'));
        else {
          install(open);
          open.answer.resolve();
        }
        break;
      }
      case 'reconcile': {
        const doubtful = commits.find((commit) => commit.state === 'doubt' && commit.generation === generation);
        if (!doubtful) break;
        const stored = step.pick % 2 === 0;
        doubtful.state = 'over';
        if (stored) install(doubtful);
        expect(loop.reconcile(doubtful.id, stored)).toBe(true);
        break;
      }
      case 'wait':
        await pass(step.milliseconds);
    }
    await vi.advanceTimersByTimeAsync(0);
  }

  function check(): void {
    const { messages } = loop.request;
    expect(messages.length).toBe(expected.length);
    expected.forEach((item, index) => {
      if (item === replaced) expect(JSON.stringify(messages[index])).toContain('Half of it.');
      else expect(messages[index]).toBe(item);
    });
    const running = summaries.filter(({ answered, signal }) => !answered && !signal.aborted).length;
    expect(
      running + commits.filter(({ state, generation: from }) => state === 'open' && from === generation).length,
    ).toBeLessThanOrEqual(1);
  }

  /** Lets everything come to its end. */
  async function finish(): Promise<void> {
    await pass(timeout + commitTimeout + 1);
    for (let round = 0; round < 20; round++) {
      await perform({ kind: 'store', succeeds: false });
      await perform({ kind: 'answer', how: 'blank' });
      await pass(timeout);
    }
    const started = events.flatMap((event) => (event.type === 'auto_compaction_started' ? [event.compactionId] : []));
    const ended = events.flatMap((event) =>
      event.type === 'notice' || event.type === 'auto_compaction_started' ? [] : [event.compactionId],
    );
    expect(ended).toEqual(started);
    let sent = 0;
    for (const { settled, abort, isTurn } of calls) {
      expect(settled.settlement.state).not.toBe('pending');
      if (settled.settlement.state === 'fulfilled' && isTurn) sent++;
      if (settled.settlement.state === 'rejected' && isTurn) {
        expect(settled.settlement.reason).toBe('stop');
        expect(abort.signal.aborted).toBe(true);
      }
    }
    expect(turns).toBe(sent);
    return undefined;
  }

  return {
    perform,
    check,
    finish,
    applied: () => events.filter(({ type }) => type === 'auto_compaction_applied').length,
    commits,
  };
}

const unhandled: unknown[] = [];
const remember = (reason: unknown): void => {
  unhandled.push(reason);
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  process.on('unhandledRejection', remember);
});
afterEach(() => {
  vi.useRealTimers();
  process.off('unhandledRejection', remember);
});

describe('in any order of what a host, its user and its store do', () => {
  it('the history is what a simple model says, one compaction runs at a time, and each start has one end', async () => {
    const seen = { applied: 0, commits: 0, doubts: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 60, size: 'max' }), async (actions) => {
        const host = createHost();
        for (const step of actions) {
          await host.perform(step);
          seen.doubts += host.commits.filter(({ state }) => state === 'doubt').length > 0 ? 1 : 0;
          host.check();
        }
        await host.finish();
        host.check();
        seen.applied += host.applied();
        seen.commits += host.commits.length;
        await new Promise((resolve) => setImmediate(resolve));
        expect(unhandled.splice(0)).toEqual([]);
      }),
      { numRuns: 200 },
    );
    expect(Math.min(seen.applied, seen.commits, seen.doubts)).toBeGreaterThan(5);
  });
});
