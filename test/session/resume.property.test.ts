import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RetainOptions } from '../../src/options.ts';
import { memoryStore } from '../../src/session.ts';
import type { ProviderKit } from '../../src/testing/provider-kit.ts';
import { providerKits } from '../../src/testing/provider-kits.ts';
import { openRun, plain, type RunOptions, type SessionRun, saidIn } from '../support/session-run.ts';

type Action =
  | { kind: 'say'; text: string }
  | { kind: 'answer'; reasoning: boolean }
  | { kind: 'tools'; results: string[]; reasoning: boolean }
  | { kind: 'manual'; meanwhile: boolean }
  /** Another process goes on. */
  | { kind: 'restart' };

/** What happens to the next summaries. */
type Fate = 'good' | 'fails' | 'cancelled' | 'input meanwhile' | 'turn meanwhile';

const text = fc.constantFrom('Näher am Ziel: 📦.', 'Read it.', '<last_user_message>', 'Line one\n\n  two ');
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('say' as const), text }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('answer' as const), reasoning: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('tools' as const),
      results: fc.array(
        fc.nat(2).map((size) => 'line of a log, '.repeat([1, 30, 120][size] ?? 1)),
        { minLength: 1, maxLength: 3 },
      ),
      reasoning: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('manual' as const), meanwhile: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);
const run = fc.record({
  actions: fc.array(action, { minLength: 3, maxLength: 14 }),
  fates: fc.array(fc.constantFrom<Fate>('good', 'good', 'fails', 'cancelled', 'input meanwhile', 'turn meanwhile'), {
    minLength: 6,
    maxLength: 6,
  }),
});

for (const kit of Object.values(providerKits)) {
  // Each kit is sound in itself; a list of them has no common type.
  const anyKit = kit as ProviderKit<object, object, unknown>;
  describe(anyKit.name, () => {
    it('after any prefix of any run, the session restored in another process equals the live loop', () => equalsLive(anyKit, {}));
    it('the same where outputs are stored short: all is equal but the raw copies', () => equalsLive(anyKit, { isShort: true }));
    it('the same where the newest turns are kept word for word', () =>
      equalsLive(anyKit, { retain: { tail: { min: 100, max: 200 } } }));
    it('the same where messages that matter are kept word for word, too', () =>
      equalsLive(anyKit, { retain: { tail: { min: 100, max: 200 }, messages: { tokens: 200 } } }));
  });
}

const seen = { compactions: 0, inputMeanwhile: 0, turnsMeanwhile: 0, restarts: 0 };

it('the runs did compact, took input meanwhile and changed the process', () => {
  expect(seen.compactions).toBeGreaterThan(50);
  expect(seen.inputMeanwhile).toBeGreaterThan(20);
  expect(seen.turnsMeanwhile).toBeGreaterThan(20);
  expect(seen.restarts).toBeGreaterThan(50);
});

async function equalsLive(
  kit: ProviderKit<object, object, unknown>,
  { isShort = false, retain }: { isShort?: boolean; retain?: RetainOptions },
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(run, async ({ actions, fates }) => {
      const script = [...fates];
      let number = 0;
      const options: RunOptions = {
        store: memoryStore(),
        retain,
        retainOutput: isShort ? ({ output }) => (JSON.stringify(output).length > 300 ? 'shortened' : output) : undefined,
        async onSummary() {
          const fate = script.shift();
          if (fate === 'fails') return { text: 'It was', ending: 'cut' };
          if (fate === 'input meanwhile') {
            await live.say(`Meanwhile ${number++}.`);
            seen.inputMeanwhile++;
          }
          if (fate === 'turn meanwhile') {
            await live.say(`Meanwhile ${number++}.`);
            await live.take({
              text: `Done meanwhile ${number}.`,
              calls: [{ id: `meanwhile_${number}`, name: 'read', input: {} }],
            });
            seen.turnsMeanwhile++;
          }
          if (fate === 'cancelled') live.loop.cancelCompaction();
          return undefined;
        },
      };
      let live = await openRun(kit, options);
      await live.say('What does the log say?');
      for (const [index, step] of actions.entries()) {
        if (step.kind === 'restart') {
          live = await live.reopen();
          seen.restarts++;
        }
        const before = live.events.length;
        await act(live, step, index, kit.name !== 'langchain');
        await expectEqual(kit, live, isShort);
        seen.compactions += live.events.slice(before).filter(({ type }) => type === 'auto_compaction_applied').length;
      }
    }),
    { numRuns: 12 },
  );
}

async function act(
  live: SessionRun<object, object, unknown>,
  step: Action,
  index: number,
  // Messages that are instances of a framework's classes are written anew from neutral ones, which leaves reasoning out.
  mayReason: boolean,
): Promise<void> {
  const reasoning = mayReason && 'reasoning' in step && step.reasoning ? 'Which one first?' : undefined;
  if (step.kind === 'say') await live.say(`${step.text} ${index}`);
  if (step.kind === 'answer')
    await live.step({ reply: { text: `Answer ${index}.`, reasoning, usage: { inputTokens: 400 + index, outputTokens: 9 } } });
  if (step.kind === 'tools') {
    const calls = step.results.map((_, call) => ({ id: `call_${index}_${call}`, name: 'read', input: { path: `${call}.ts` } }));
    await live.step({ reply: { text: 'I read.', reasoning, calls }, results: step.results });
  }
  if (step.kind !== 'manual') return;
  const compacting = live.loop.compact({ ...live.session.recordManual() });
  if (step.meanwhile) await live.say(`By the way ${index}.`);
  await compacting.catch(() => undefined); // whatever it failed with, nothing has changed
}

async function expectEqual(
  kit: ProviderKit<object, object, unknown>,
  live: SessionRun<object, object, unknown>,
  isShort: boolean,
): Promise<void> {
  const other = await live.reopen();
  const short = (value: unknown): string =>
    JSON.stringify(value, (_key, entry) => (typeof entry === 'string' && isShort && entry.length > 300 ? 'shortened' : entry));
  const said = saidIn(kit, live.loop.request);
  expect(short(saidIn(kit, other.loop.request))).toBe(short(said));
  expect(other.session.messages).toEqual(live.session.messages);
  const [mine, theirs] = [live.loop.snapshot(), other.loop.snapshot()];
  expect(theirs.trigger.attempt?.count).toBe(mine.trigger.attempt?.count);
  if (isShort) return;
  expect(plain(theirs)).toEqual(plain(mine));
  expect(other.loop.estimate()).toEqual(live.loop.estimate());
  expectSame(kit, other, live);
}

function expectSame(
  { name }: ProviderKit<object, object, unknown>,
  ...[left, right]: [SessionRun<object, object, unknown>, SessionRun<object, object, unknown>]
): void {
  const asSent = ({ loop }: SessionRun<object, object, unknown>): unknown => JSON.parse(JSON.stringify(loop.request));
  // LangChain's messages are instances of its classes, with notes of their own: they are written anew.
  if (name !== 'langchain') expect(asSent(left)).toEqual(asSent(right));
}
