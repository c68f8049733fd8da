import { vi } from 'vitest';
import type { CompactionEvent } from '../../src/events.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import type { CompactorOptions, SendContext } from '../../src/options.ts';
import type { Summarizer } from '../../src/summarize/summarizer.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { microtasks, never, type Settlement, watch } from './deferred.ts';
import { freezeDeep } from './freeze.ts';
import type { Ending, ShapeKit, Turn } from './shape-kits.ts';

/** Where a transaction waits, or hands over to the host. */
export const awaits = [
  'the tokenizer loads',
  'a counter of the host counts',
  'the summary request, the first',
  'the summary request after a denial',
  'the summary request of a retry',
  'the summary request with the larger cap',
  'an object is read',
  'a stream, before its first piece',
  'a stream, in the middle',
  'a stream, before its end',
  'the delay before a retry',
  'the delay that the provider asks for',
  'a summarizer of the host',
  'another caller waits for it',
  'the commit',
  'the events that tell of it',
  'the turn itself is sent',
] as const;
export type Await = (typeof awaits)[number];

/** What goes wrong there, or happens meanwhile. */
export const faults = [
  'an error',
  'a non-error',
  'undefined',
  'never settles',
  'child abort',
  'parent abort',
  'deadline',
  'cut',
  'truncated',
  'refused',
  'tool calls',
  'rejects',
  'append',
  'reset',
] as const;
export type Fault = (typeof faults)[number];

export interface Scenario {
  face: 'loop' | 'wrapper';
  turns: readonly Turn[];
  /** What the non-error is. */
  thrown: unknown;
  /** What a turn is aborted with. */
  reason: unknown;
  /** What a call does that was aborted: nothing, fail with the reason, answer all the same. */
  aftermath: 'ignores' | 'rejects' | 'answers';
  streamed: boolean;
  /** After how many steps of waiting code, where a fault has no await of its own. */
  steps: number;
  /** Which count of a counter fails. */
  nthCount: number;
}

export interface RunRecord<Request, Item, Reply> {
  before: readonly Item[];
  appended: Item[];
  lifecycle: string[];
  ids: { started: string[]; ended: string[] };
  commits: { compactionId: string; state: 'pending' | 'fulfilled' | 'rejected' }[];
  /** Requests of the turn, and what they came back with. */
  turns: Request[];
  summaries: Request[];
  replies: Reply[];
  call: Settlement<Reply>;
  other: Settlement<Reply> | undefined;
  struck: number;
  aborted: boolean;
  reset: readonly Item[] | undefined;
  /** What the next turn would send, without another compaction. */
  history: () => Promise<readonly Item[]>;
  /** Grows the conversation by a turn and sends it. */
  sendNext: (items: readonly Item[]) => Promise<void>;
  reconcile: (committed: boolean) => void;
}

const timeout = 1000;
export const summaryText = '## Goal\nShip it.\n\n## Accomplished\nHalf of it.';
const busy = (headers: object = {}): Error => Object.assign(new Error('Service unavailable'), { status: 503, headers });

/** Fresh copies of the library, for a test that loads it anew. */
export interface Library {
  AutoCompactingLoop: typeof AutoCompactingLoop;
  withAutoCompaction: typeof withAutoCompaction;
}

/** Sends one turn over a conversation that is due, with one fault at one await, until nothing moves any more. */
export async function runTransaction<Request extends { readonly messages: readonly Item[] }, Item, Reply>(
  kit: ShapeKit<Request, Item, Reply>,
  place: Await,
  fault: Fault,
  scenario: Scenario,
  {
    library = { AutoCompactingLoop, withAutoCompaction },
    onLoad,
  }: { library?: Library; onLoad?: (strike: () => Promise<void>) => void } = {},
): Promise<RunRecord<Request, Item, Reply>> {
  const { face, aftermath, steps } = scenario;
  const before = freezeDeep(scenario.turns.flatMap((turn, index) => kit.turn(turn, `call_${index}`)));
  const items = [...kit.leading, ...before];
  let request = kit.request(items);
  if (!(face === 'wrapper' && fault === 'append')) freezeDeep(request);
  const appended = ['By the way.', 'And this.'].flatMap((user, index) =>
    kit.turn({ user, steps: [], answer: index === 0 ? 'Noted.' : undefined }, 'call_more'),
  );
  const fresh = kit.request([
    ...kit.leading,
    ...scenario.turns.flatMap((turn, index) => kit.turn({ ...turn, user: `Anew: ${turn.user}` }, `call_n${index}`)),
  ]);
  const controller = new AbortController();
  const events: CompactionEvent[] = [];
  let armed = true;

  const record: RunRecord<Request, Item, Reply> = {
    before: [...items],
    appended: [],
    lifecycle: [],
    ids: { started: [], ended: [] },
    commits: [],
    turns: [],
    summaries: [],
    replies: [],
    call: { state: 'pending' },
    other: undefined,
    struck: 0,
    aborted: false,
    reset: undefined,
    history: async () => [],
    sendNext: async () => undefined,
    reconcile: () => undefined,
  };

  // What happens from outside.
  const act: Partial<Record<Fault, () => void>> = {
    'child abort'() {
      if (face === 'loop') loop.cancelCompaction();
      else for (const event of events) if (event.type === 'auto_compaction_started') event.cancel();
    },
    'parent abort'() {
      record.aborted = true;
      controller.abort(scenario.reason);
    },
    append() {
      record.appended.push(...appended);
      if (face === 'loop') loop.append(appended);
      else items.push(...appended);
    },
    reset() {
      record.reset = fresh.messages;
      loop.reset(fresh);
    },
  };

  const failures: Partial<Record<Fault, unknown>> = {
    'an error': new Error('fault'),
    'a non-error': scenario.thrown,
    undefined: undefined,
  };

  /** The fault, once. Returns how a reply is to end. */
  async function strike(signal?: AbortSignal): Promise<Ending> {
    armed = false;
    record.struck++;
    if (fault in failures) throw failures[fault];
    if (fault === 'never settles') return never();
    act[fault]?.();
    // The turn's own call is the host's, which knows its signal; a tokenizer is there for all who wait.
    const after = place === 'the turn itself is sent' ? 'rejects' : place === 'the tokenizer loads' ? 'answers' : aftermath;
    if (fault === 'child abort' || fault === 'parent abort' || fault === 'reset') {
      if (after === 'ignores' && place !== 'another caller waits for it') return never();
      if (after === 'rejects' && signal?.aborted) throw signal.reason;
    }
    if (fault === 'deadline') await new Promise((resolve) => setTimeout(resolve, timeout + 500));
    return endings[fault] ?? 'stop';
  }

  function onSummary(signal: AbortSignal): Reply | Promise<Reply> {
    const sent = record.summaries.length;
    switch (place) {
      case 'the summary request, the first':
      case 'another caller waits for it':
        return armed && place === 'the summary request, the first' ? reply(strike(signal)) : good(signal);
      case 'the summary request after a denial':
        if (sent === 1) return kit.reply('PRIVATE', 'calls');
        return armed ? reply(strike(signal)) : good();
      case 'the summary request of a retry':
        if (sent === 1) throw busy();
        return armed ? reply(strike(signal)) : good();
      case 'the summary request with the larger cap':
        if (sent === 1) return kit.reply('PRIVATE', 'length');
        return armed ? reply(strike(signal)) : good();
      case 'an object is read':
        return armed ? objectToRead() : good();
      case 'a stream, before its first piece':
        return armed ? streamed(0) : good();
      case 'a stream, in the middle':
        return armed ? streamed(kit.name === 'anthropic' ? 3 : 1) : good();
      case 'a stream, before its end':
        return armed ? streamed('end') : good();
      case 'the delay before a retry':
      case 'the delay that the provider asks for':
        if (sent > 1) return good();
        setTimeout(() => void strike(), 100);
        throw busy(place === 'the delay before a retry' ? {} : { 'retry-after-ms': '300' });
    }
    return good();
  }

  async function reply(ending: Promise<Ending>): Promise<Reply> {
    return kit.reply(summaryText, await ending);
  }

  /** A good summary, as the model sends it where nothing is wrong. The other caller's fault strikes while it is written. */
  async function good(signal?: AbortSignal): Promise<Reply> {
    if (place === 'another caller waits for it' && armed) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return kit.reply(summaryText, await strike(signal));
    }
    return scenario.streamed ? stream(kit.chunks(summaryText, 'stop')) : kit.reply(summaryText, 'stop');
  }

  function objectToRead(): Reply {
    armed = false;
    record.struck++;
    if (fault in failures) return broken(failures[fault]) as Reply; // a reply that fails when it is read
    const ending = endings[fault];
    if (ending) return kit.reply(summaryText, ending);
    void microtasks(steps).then(() => act[fault]?.());
    return kit.reply(summaryText, 'stop');
  }

  function streamed(at: number | 'end'): Reply {
    const ending = endings[fault] ?? 'stop';
    const chunks = kit.chunks(summaryText, ending === 'cut' ? 'stop' : ending);
    return stream(chunks, at === 'end' ? kit.chunks(summaryText, 'cut').length : at);
  }

  function stream(chunks: readonly object[], at?: number): Reply {
    async function* pieces(): AsyncGenerator<object> {
      for (const [index, chunk] of chunks.entries()) {
        if (index === at && (await strike()) === 'cut') return;
        yield chunk;
      }
    }
    return pieces() as Reply; // both shapes take any stream of their own pieces
  }

  async function send(sent: Request, { purpose, signal }: SendContext): Promise<Reply> {
    freezeDeep(sent);
    if (purpose === 'summary') {
      record.summaries.push(sent);
      return onSummary(signal);
    }
    record.turns.push(sent);
    const ending = place === 'the turn itself is sent' && armed ? await strike(signal) : 'stop';
    const answer = kit.reply('Done.', ending);
    record.replies.push(answer);
    return answer;
  }

  let counts = 0;
  function countTokens(text: string): number {
    if (place === 'a counter of the host counts' && armed && ++counts >= scenario.nthCount) {
      record.struck++;
      throw failures[fault];
    }
    return Math.ceil(text.length / 4);
  }

  const summarizer: Summarizer = async ({ signal }) => {
    if (armed) await strike(signal);
    return { text: summaryText };
  };

  const options: CompactorOptions<Request, Item, Reply, Request, Reply> = {
    adapter: kit.adapter,
    contextWindow: 12_000,
    send,
    budget: { threshold: 300, ...(place === 'the tokenizer loads' ? {} : { countTokens }) },
    summary: {
      timeout: fault === 'deadline' && place.startsWith('the delay') ? 250 : timeout,
      ...(place === 'a summarizer of the host' ? { summarizer } : {}),
    },
    async commit({ compactionId }) {
      const commit: RunRecord<Request, Item, Reply>['commits'][number] = { compactionId, state: 'pending' };
      record.commits.push(commit);
      try {
        if (place === 'the commit' && armed) {
          if (fault === 'rejects') {
            armed = false;
            record.struck++;
            await microtasks(steps);
            throw new Error('disk full');
          }
          const late = fault === 'child abort' || fault === 'parent abort' || fault === 'reset';
          if (late) {
            armed = false;
            record.struck++;
            act[fault]?.();
            await microtasks(steps);
          } else await strike();
        }
        commit.state = 'fulfilled';
      } catch (error) {
        commit.state = 'rejected';
        throw error;
      }
    },
    ...(place === 'the commit' && fault === 'never settles' ? { commitTimeout: 200 } : {}),
    onEvent(event) {
      events.push(event);
      if (event.type === 'notice') return;
      if (event.type === 'auto_compaction_started') record.ids.started.push(event.compactionId);
      else record.ids.ended.push(event.compactionId);
      record.lifecycle.push(describeEvent(event));
      if (place !== 'the events that tell of it' || !armed || event.type !== 'auto_compaction_applied') return;
      armed = false;
      record.struck++;
      act[fault]?.();
      if (fault in failures) {
        if (steps % 2 === 0) throw failures[fault];
        return Promise.reject(failures[fault]) as unknown as undefined; // an async observer
      }
      if (fault === 'never settles') return never() as unknown as undefined;
    },
  };

  const loop = new library.AutoCompactingLoop(request, options);
  const create = library.withAutoCompaction(send, withoutSend(options));
  onLoad?.(async () => {
    if (armed) await strike();
  });
  const call = (signal?: AbortSignal): Promise<Reply> => (face === 'loop' ? loop.send({ signal }) : create(request, { signal }));

  const other = place === 'another caller waits for it' ? watch(call(new AbortController().signal)) : undefined;
  if (other) await vi.advanceTimersByTimeAsync(10);
  const watched = watch(call(controller.signal));
  await drive(() => watched.settlement.state !== 'pending' && other?.settlement.state !== 'pending');
  await vi.runAllTimersAsync(); // what is late comes now
  record.call = watched.settlement;
  record.other = other?.settlement;
  armed = false;

  record.history = async () =>
    face === 'loop' ? loop.request.messages : (await create.compactor.prepare(request, { oneShot: true })).messages;
  record.sendNext = async (more) => {
    const end = record.turns.length + 1;
    if (face === 'loop') loop.append(more);
    else request = kit.request([...request.messages, ...more]);
    const next = watch(call());
    await drive(() => next.settlement.state !== 'pending');
    if (next.settlement.state !== 'fulfilled' || record.turns.length !== end)
      throw new Error(`Expected the next turn to be sent, but it is ${next.settlement.state}.`);
  };
  record.reconcile = (committed) => {
    const [id = ''] = record.ids.ended;
    const known = face === 'loop' ? loop.reconcile(id, committed) : create.compactor.reconcile(id, committed);
    if (!known) throw new Error('Expected a commit in doubt.');
  };
  return record;
}

const endings: Partial<Record<Fault, Ending>> = { cut: 'cut', truncated: 'length', refused: 'refusal', 'tool calls': 'calls' };

function describeEvent(event: Exclude<CompactionEvent, { type: 'notice' }>): string {
  switch (event.type) {
    case 'auto_compaction_started':
      return 'started';
    case 'auto_compaction_applied':
      return 'applied';
    case 'auto_compaction_cancelled':
      return `cancelled by ${event.by}`;
    case 'auto_compaction_failed':
      return event.error.code;
  }
}

function withoutSend<Options extends { send?: unknown }>({ send: _send, ...rest }: Options): Omit<Options, 'send'> {
  return rest;
}

/** An object that fails when its fields are looked at. */
function broken(reason: unknown): object {
  return new Proxy(
    {},
    {
      get(_target, key) {
        if (key === 'then' || typeof key === 'symbol') return undefined;
        throw reason;
      },
    },
  );
}

/** Lets time pass until it is over, or nothing is left that could happen. */
async function drive(isOver: () => boolean): Promise<void> {
  for (let round = 0; round < 100; round++) {
    await vi.advanceTimersByTimeAsync(0);
    if (isOver()) return;
    if (vi.getTimerCount() > 0) await vi.advanceTimersToNextTimerAsync();
    else if (round > 3) return;
  }
}
