import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { anthropicKit, chatKit, type ShapeKit } from './support/shape-kits.ts';
import {
  type Await,
  awaits,
  type Fault,
  faults,
  type Library,
  type RunRecord,
  runTransaction,
  type Scenario,
  summaryText,
} from './support/transaction-run.ts';

/** How a turn ends: with its reply, with the reason of the abort, with the fault itself, or not at all. */
type End = 'reply' | 'reason' | 'fault' | 'pending';

/** What must come of a fault: the events behind the start, and the end of the turn. `any` where the race decides. */
interface Expected {
  event: string | 'any' | 'none';
  end: End;
}

const failed = (code: string): Expected => ({ event: code, end: 'reply' });
const applied: Expected = { event: 'applied', end: 'reply' };
const byChild: Expected = { event: 'cancelled by child', end: 'reply' };
const byParent: Expected = { event: 'cancelled by parent', end: 'reason' };

const thrown: Partial<Record<Fault, Expected>> = {
  'an error': failed('summarizer-failed'),
  'a non-error': failed('summarizer-failed'),
  undefined: failed('summarizer-failed'),
};
const meanwhile: Partial<Record<Fault, Expected>> = {
  'child abort': byChild,
  'parent abort': byParent,
  append: applied,
  reset: failed('reset'),
};
const waiting: Partial<Record<Fault, Expected>> = {
  ...thrown,
  ...meanwhile,
  'never settles': failed('deadline'),
  deadline: failed('deadline'),
};
const request: Partial<Record<Fault, Expected>> = {
  ...waiting,
  cut: applied, // tried again
  truncated: applied, // asked for again with the larger cap
  refused: failed('refused'),
  'tool calls': applied, // denied
};

/** One cell: what is expected, or why it cannot be. */
const noStore = 'no store is written here';
const noReply = 'no reply is read here';
const sync = 'nothing waits here: nothing else can happen meanwhile';
const noCompaction = 'no compaction is under way here';
const table: Record<Await, Record<Fault, Expected | string>> = {
  'the tokenizer loads': row({
    'an error': applied, // a third of the bytes stays in use
    'a non-error': applied,
    undefined: applied,
    'never settles': 'the import of a module settles',
    'child abort': noCompaction,
    'parent abort': { event: 'none', end: 'reason' },
    deadline: noCompaction,
    append: applied,
    reset: { event: 'none', end: 'reply' },
  }),
  'a counter of the host counts': row(
    {
      'an error': { event: 'any', end: 'reply' },
      'a non-error': { event: 'any', end: 'reply' },
      undefined: { event: 'any', end: 'reply' },
    },
    sync,
  ),
  'the summary request, the first': row(request),
  'the summary request after a denial': row(request),
  'the summary request of a retry': row({ ...request, cut: failed('incomplete-reply') }),
  'the summary request with the larger cap': row({ ...request, truncated: failed('truncated-summary') }),
  'an object is read': row(
    {
      ...request,
      'never settles': 'an object is there at once',
      deadline: 'an object is there at once',
      // So many steps of waiting code later, up to the reply of the turn:
      'child abort': { event: 'any', end: 'reply' },
      'parent abort': { event: 'any', end: 'reason' },
      append: { event: 'any', end: 'reply' },
      reset: { event: 'any', end: 'reply' },
    },
    noStore,
  ),
  'a stream, before its first piece': row({ ...waiting, cut: applied, ...said('the ending comes with the last piece') }),
  'a stream, in the middle': row({ ...waiting, cut: applied, ...said('the ending comes with the last piece') }),
  'a stream, before its end': row(request),
  'the delay before a retry': row({ ...delay('a timer does not fail'), ...meanwhile }),
  'the delay that the provider asks for': row({ ...delay('a timer does not fail'), ...meanwhile }),
  'a summarizer of the host': row({ ...waiting, cut: noReply, ...said('it reads its own replies: it returns a text or throws') }),
  'another caller waits for it': row({
    ...waiting,
    'parent abort': { event: 'applied', end: 'reason' }, // the first caller goes on
    cut: applied,
    truncated: applied,
    refused: failed('refused'),
    'tool calls': applied,
  }),
  'the commit': row(
    {
      'an error': failed('commit-failed'),
      'a non-error': failed('commit-failed'),
      undefined: failed('commit-failed'),
      'never settles': failed('commit-in-doubt'),
      'child abort': applied, // the point of no return
      'parent abort': { event: 'applied', end: 'reason' },
      deadline: applied,
      rejects: failed('commit-failed'),
      append: applied,
      reset: failed('reset'),
    },
    noReply,
  ),
  'the events that tell of it': row({
    'an error': applied,
    'a non-error': applied,
    undefined: applied,
    'never settles': applied,
    'child abort': applied,
    'parent abort': { event: 'applied', end: 'reason' },
    deadline: 'the deadline is over the summary alone, which is there',
    append: applied,
    reset: applied,
  }),
  'the turn itself is sent': row({
    'an error': { event: 'applied', end: 'fault' },
    'a non-error': { event: 'applied', end: 'fault' },
    undefined: { event: 'applied', end: 'fault' },
    'never settles': { event: 'applied', end: 'pending' },
    'child abort': applied, // too late
    'parent abort': { event: 'applied', end: 'reason' },
    deadline: applied, // not its deadline
    cut: applied, // the reply is the caller's, as it is
    truncated: applied,
    refused: applied,
    'tool calls': applied,
    append: applied,
    reset: applied,
  }),
};

function row(cells: Partial<Record<Fault, Expected | string>>, reason: string = noReply): Record<Fault, Expected | string> {
  const missing = (fault: Fault): string => (fault === 'rejects' ? noStore : reason);
  return Object.fromEntries(faults.map((fault) => [fault, cells[fault] ?? missing(fault)])) as Record<Fault, Expected | string>;
}

function said(reason: string): Partial<Record<Fault, string>> {
  return { truncated: reason, refused: reason, 'tool calls': reason };
}

function delay(reason: string): Partial<Record<Fault, Expected | string>> {
  return { 'an error': reason, 'a non-error': reason, undefined: reason, 'never settles': reason, deadline: failed('deadline') };
}

const word = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' });
const result = fc.tuple(word, fc.integer({ min: 50, max: 800 })).map(([text, size]) => `${text}${'r'.repeat(size)}`);
const steps = fc.array(fc.array(result, { minLength: 1, maxLength: 3 }), { maxLength: 2 });
const turns = fc
  .tuple(
    fc.array(fc.record({ user: word, steps, answer: word }), { minLength: 1, maxLength: 3 }),
    fc.record({ user: word, steps }),
  )
  .map(([done, last]) =>
    [...done, last].map(({ user, ...turn }, index) => ({
      ...turn,
      user: `Question ${index}: ${user}`,
      ...('answer' in turn ? { answer: `Answer ${index}: ${turn.answer}${index === 0 ? 'a'.repeat(3000) : ''}` } : {}),
    })),
  );
const scenario: fc.Arbitrary<Scenario> = fc.record({
  face: fc.constantFrom('loop' as const, 'wrapper' as const),
  turns,
  thrown: fc.constantFrom<unknown>('fault', null, 42, { fault: true }, Symbol.for('fault'), false),
  reason: fc.constantFrom<unknown>(new Error('stop'), 'stop', null, undefined, { stop: true }, 0),
  aftermath: fc.constantFrom('ignores' as const, 'rejects' as const, 'answers' as const),
  streamed: fc.boolean(),
  steps: fc.integer({ min: 0, max: 40 }),
  nthCount: fc.integer({ min: 1, max: 60 }),
});

const kits = { chat: chatKit, anthropic: anthropicKit } as const;
const runsPerCell = 10;
const counts = new Map<string, number>();
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

/** The conversation is as before, or the replacement stands for all of it; what was appended follows, the very same items in order. */
function expectHistory<Item>(
  items: readonly Item[],
  run: RunRecord<never, Item, unknown>,
  isApplied: boolean,
  leading: number,
): void {
  const start = run.reset ?? run.before;
  const kept = run.reset || !isApplied ? start : start.slice(0, leading);
  const added = run.reset ? [] : run.appended;
  const replaced = !run.reset && isApplied ? 1 : 0;
  expect(items).toHaveLength(kept.length + replaced + added.length);
  kept.forEach((item, index) => {
    expect(items[index]).toBe(item);
  });
  if (replaced > 0) expect(JSON.stringify(items[leading])).toContain(JSON.stringify(summaryText).slice(1, -1));
  added.forEach((item, index) => {
    expect(items[kept.length + replaced + index]).toBe(item);
  });
}

async function checkCell<Request extends { readonly messages: readonly Item[] }, Item, Reply>(
  kit: ShapeKit<Request, Item, Reply>,
  place: Await,
  fault: Fault,
  expected: Expected,
  given: Scenario,
  load?: { library: Library; onLoad: (strike: () => Promise<void>) => void },
): Promise<void> {
  const run = await runTransaction(kit, place, fault, given, load);
  const isCounter = place === 'a counter of the host counts';
  if (!isCounter) expect(run.struck).toBe(1);

  // One start, one end, of the right kind.
  const [start, event = 'none', ...more] = run.lifecycle;
  expect(more).toEqual([]);
  expect(run.ids.ended).toEqual(run.ids.started);
  expect(start).toBe(run.ids.started.length > 0 ? 'started' : undefined);
  if (expected.event !== 'any') expect(event).toBe(expected.event);

  // Applied, if and only if it was stored; nothing is stored once it was stopped.
  const isApplied = event === 'applied';
  const [commit, ...otherCommits] = run.commits;
  expect(otherCommits).toEqual([]);
  if (isApplied) expect(commit).toEqual({ compactionId: run.ids.started[0], state: 'fulfilled' });
  else if (event.startsWith('cancelled') || event === 'deadline' || event === 'none') expect(commit).toBeUndefined();
  else if (event !== 'reset' && event !== 'commit-in-doubt') expect(commit?.state).not.toBe('fulfilled');

  // The turn is sent once, unless it was aborted before that.
  const sentAborted = place === 'the turn itself is sent' || (place === 'an object is read' && run.turns.length > 0);
  const callers = place === 'another caller waits for it' ? 2 : 1;
  expect(run.turns).toHaveLength(run.aborted && !sentAborted ? callers - 1 : callers);
  for (const body of [...run.turns, ...run.summaries]) expect(kit.validate(JSON.parse(JSON.stringify(body)))).toEqual([]);
  if (run.other) expect(run.other).toEqual({ state: 'fulfilled', value: run.replies[0] });

  // It ends as it must, with the very same reply, reason or fault.
  const end = run.call.state === 'rejected' ? (run.aborted && !(expected.end === 'fault') ? 'reason' : 'fault') : run.call.state;
  const aborted = run.aborted && !(sentAborted && run.call.state === 'fulfilled');
  expect(end).toBe(expected.end === 'reply' || (!aborted && expected.end === 'reason') ? 'fulfilled' : expected.end);
  if (run.call.state === 'fulfilled') expect(run.call.value).toBe(run.replies.at(-1));
  if (run.call.state === 'rejected') {
    if (end === 'reason') {
      const reason = given.reason === undefined ? expect.objectContaining({ name: 'AbortError' }) : given.reason;
      expect(run.call.reason).toEqual(reason);
    } else if (fault === 'a non-error') expect(run.call.reason).toBe(given.thrown);
    else if (fault === 'undefined') expect(run.call.reason).toBe(undefined);
    else expect(run.call.reason).toEqual(new Error('fault'));
  }

  // Memory is as before, or the replacement; so is what was sent.
  expectHistory(await run.history(), run as never, isApplied, kit.leading.length);

  // Nothing is stuck: the next compaction works.
  if (event === 'commit-in-doubt') {
    await run.sendNext(kit.turn({ user: 'Suspended?', steps: [['s'.repeat(2500)]] }, 'call_suspended'));
    expect(run.lifecycle).toHaveLength(2);
    run.reconcile(false);
  }
  const done = run.lifecycle.length;
  await run.sendNext(kit.turn({ user: 'What next?', steps: [['n'.repeat(4000)]] }, 'call_next'));
  expect(run.lifecycle.slice(done)).toEqual(['started', 'applied']);
  expect((await run.history()).length).toBe(kit.leading.length + 1);
  expect(JSON.stringify(run.turns.at(-1))).toContain('What next?');

  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled.splice(0)).toEqual([]);
  const cell = `${place}|${fault}`;
  counts.set(cell, (counts.get(cell) ?? 0) + 1);
}

/** A reset is a thing of the loop. */
function adapt(given: Scenario, fault: Fault): Scenario {
  return fault === 'reset' ? { ...given, face: 'loop' } : given;
}

describe.each(awaits)('a fault where %s', (place) => {
  for (const fault of faults) {
    const expected = table[place][fault];
    if (typeof expected === 'string') continue;
    const title = fault === 'undefined' ? 'undefined is thrown' : fault;
    if (place === 'the tokenizer loads')
      it(`${title}: ${expected.event}`, async () => {
        for (const kit of Object.values(kits))
          for (const given of fc.sample(scenario, 2))
            await checkLoading(kit as typeof chatKit, fault, expected, adapt(given, fault));
      });
    else
      it(`${title}: ${expected.event}`, async () => {
        await fc.assert(
          fc.asyncProperty(fc.constantFrom('chat' as const, 'anthropic' as const), scenario, async (shape, given) => {
            // Which of the two it is makes no difference here.
            await checkCell(kits[shape] as typeof chatKit, place, fault, expected, adapt(given, fault));
          }),
          { numRuns: runsPerCell },
        );
      });
  }
});

/** The tokenizer is loaded once in a process: each run takes a fresh copy of the library. */
async function checkLoading(kit: typeof chatKit, fault: Fault, expected: Expected, given: Scenario): Promise<void> {
  let strike = async (): Promise<void> => undefined;
  vi.resetModules();
  vi.doMock('../src/budget/tokenizer.ts', () => ({
    loadTokenCounter: async () => {
      await strike();
      return (text: string) => Math.ceil(text.length / 4);
    },
  }));
  try {
    const library: Library = await import('../src/index.ts');
    const onLoad = (given: () => Promise<void>): void => {
      strike = given;
    };
    await checkCell(kit, 'the tokenizer loads', fault, expected, given, { library, onLoad });
  } finally {
    vi.doUnmock('../src/budget/tokenizer.ts');
  }
}

describe('the matrix', () => {
  it('has a count or a reason in every cell', () => {
    for (const place of awaits)
      for (const fault of faults) {
        const expected = table[place][fault];
        const count = counts.get(`${place}|${fault}`) ?? 0;
        if (typeof expected === 'string') expect(expected.length).toBeGreaterThan(10);
        else expect([place, fault, count > 0]).toEqual([place, fault, true]);
      }
  });
});

afterAll(() => {
  const reasons = [...new Set(awaits.flatMap((place) => faults.map((fault) => table[place][fault])))].filter(
    (cell) => typeof cell === 'string',
  );
  const cellOf = (place: Await, fault: Fault): string => {
    const expected = table[place][fault];
    return typeof expected === 'string' ? `(${reasons.indexOf(expected) + 1})` : String(counts.get(`${place}|${fault}`) ?? 0);
  };
  const width = Math.max(...awaits.map((place) => place.length)) + 1;
  const lines = [
    ' '.repeat(width) + faults.map((fault) => fault.padStart(14)).join(''),
    ...awaits.map((place) => place.padEnd(width) + faults.map((fault) => cellOf(place, fault).padStart(14)).join('')),
    ...reasons.map((reason, index) => `(${index + 1}) ${reason}`),
  ];
  console.log(lines.join('\n'));
});
