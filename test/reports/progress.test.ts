import fc from 'fast-check';
import { expect, it } from 'vitest';
import { estimateBudget } from '../../src/budget/estimate.ts';
import { createCompactor } from '../../src/compactor.ts';
import type { CompactionEvent } from '../../src/events.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import type { Message } from '../../src/message.ts';
import type { Summarizer } from '../../src/summarize/summarizer.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import {
  countTokens,
  goodSummary,
  longItems,
  reportModel,
  smallBudget,
  smallOptions,
  told,
  transcript,
} from '../support/report-model.ts';
import { onAllShapes, type ReportShape } from '../support/report-shapes.ts';

const textOfAll = (messages: readonly Message[]): string => messages.map((message) => JSON.stringify(message.parts)).join('\n');

/** Summarizers that do not do what they should. */
const summarizers: Record<string, (messages: readonly Message[]) => string> = {
  echoes: textOfAll,
  doubles: (messages) => textOfAll(messages).repeat(2),
  'is constant': () => goodSummary,
  'is empty': () => ' ',
  'saves next to nothing': (messages) => textOfAll(messages).slice(0, -200),
  fails: () => {
    throw new Error('no');
  },
};

function sizeOf<Request extends object, Item extends object, Reply>(
  { adapter }: ReportShape<Request, Item, Reply>,
  request: Request,
): number {
  return estimateBudget(request, { adapter, contextWindow: smallBudget.contextWindow, countTokens }).tokens;
}

/** A summarizer that counts how often it is asked. */
function counting(write: (messages: readonly Message[]) => string): { summarizer: Summarizer; asked: () => number } {
  let asked = 0;
  return {
    asked: () => asked,
    summarizer: async ({ messages }) => {
      asked++;
      return { text: write(messages) };
    },
  };
}

onAllShapes((shape) => {
  const { user, calls, results, assistant } = shape;
  const round = (id: string, characters: number) => [...calls([id]), ...results([[id, 't'.repeat(characters)]])];
  const ends = (events: readonly CompactionEvent[]): string[] => told(events).filter((end) => /applied|failed/.test(end));

  it('the property: whatever the summarizer does and however large the turns are, the work goes on in bounded attempts and no request grows', async () => {
    const window = 4 * smallBudget.contextWindow; // characters of a whole window
    const sizes = fc.array(fc.oneof(fc.nat(2000), fc.nat(3 * window)), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.keys(summarizers)), sizes, fc.nat(3 * window), async (name, turns, pinned) => {
        const { options, events } = smallOptions(shape);
        const { summarizer, asked } = counting(summarizers[name]!);
        const create = withAutoCompaction(async () => shape.reply({ text: 'Done.' }), {
          ...options,
          budget: { countTokens },
          summary: { summarizer },
        });
        const items = [user('u'.repeat(pinned + 1))];
        for (const [index, characters] of turns.entries()) {
          items.push(...round(`c${index}`, characters));
          const request = shape.request([...items]);
          const before = asked();
          const sent = await create.compactor.prepare(request);
          expect(asked() - before).toBeLessThanOrEqual(1);
          // Preparing the same request again asks for nothing more.
          expect(await create.compactor.prepare(request)).toEqual(sent);
          expect(asked() - before).toBeLessThanOrEqual(1);
          expect(sizeOf(shape, sent)).toBeLessThanOrEqual(sizeOf(shape, request));
          const { gate } = await create.compactor.plan(request);
          if (sizeOf(shape, sent) >= smallBudget.contextWindow * 0.9) expect(gate).toBeDefined(); // the outcome says why
        }
        // Nothing but a new word of the user arms it again after three failures in a row.
        const outcomes = ends(events);
        expect(outcomes).toHaveLength(asked());
        const failures = outcomes.lastIndexOf('applied') === -1 ? outcomes : outcomes.slice(outcomes.lastIndexOf('applied') + 1);
        expect(failures.length).toBeLessThanOrEqual(3);
      }),
      { numRuns: 80 },
    );
  });

  it('B077: a summary that is longer than what it replaces is discarded', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape, [
      () => shape.reply({ text: 'v'.repeat(20_000) }),
      () => shape.reply({ text: 'v'.repeat(20_000) }),
    ]);
    const create = withAutoCompaction(model.send, options);
    const request = shape.request(longItems(shape));
    await create(request);
    expect(told(events)).toEqual(['started', 'failed not-smaller']);
    expect(model.turns[0]!.request).toBe(request);
    await expect(create.compactor.compact(request)).rejects.toMatchObject({ code: 'not-smaller' });
  });

  it('B079: where what must stay is nearly all there is, nothing is applied', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, options);
    const request = shape.request([user('a'), assistant('b'), user('w'.repeat(12_000)), ...round('c', 40)]);
    await create(request);
    expect(told(events)).toEqual(['started', 'failed not-smaller']);
    expect(model.turns[0]!.request).toBe(request);
  });

  it('B081: a summary that fails after an overflow hides nothing, and is not the first thing of the next run', async () => {
    const { options, events } = smallOptions(shape);
    const overflow = Object.assign(new Error('prompt is too long: 210000 tokens > 200000 maximum'), { status: 400 });
    const fail = () => {
      throw overflow;
    };
    const model = reportModel(shape, [fail, fail, fail], fail);
    const loop = new AutoCompactingLoop(shape.request(longItems(shape)), { ...options, send: model.send });
    await expect(loop.send()).rejects.toBe(overflow);
    expect(told(events)).toEqual(['started', 'notice summary-shortened', 'failed summarizer-overflow', 'notice suppressed']);
    await expect(loop.send()).rejects.toBe(overflow);
    expect(model.summaries).toHaveLength(2);
    const resumed = new AutoCompactingLoop(loop.request, { ...options, send: model.send }, { snapshot: loop.snapshot() });
    await expect(resumed.send()).rejects.toBe(overflow);
    expect(model.summaries).toHaveLength(2);
    expect(model.turns).toHaveLength(3);
  });

  it('B082: a first message that is alone over the threshold starts no compaction', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, { ...options, budget: { countTokens } });
    const first = user('x'.repeat(4 * 6000));
    const items = [first];
    for (let turn = 0; turn < 5; turn++) {
      await create(shape.request([...items]));
      items.push(...round(`c${turn}`, 40));
    }
    expect(model.summaries).toEqual([]);
    expect(told(events)).toEqual(['notice irreducible']);
    expect(await create.compactor.plan(shape.request(items))).toMatchObject({ wouldCompact: false, gate: 'irreducible' });
    await expect(create.compactor.compact(shape.request([first]))).rejects.toMatchObject({ code: 'nothing-to-compact' });
  });

  it('B084: a provider that always says overflow gets one attempt each, then its error is the outcome', async () => {
    const { options, events } = smallOptions(shape);
    const overflow = Object.assign(new Error("This model's maximum context length is 8192 tokens."), { status: 400 });
    const model = reportModel(shape, [], () => {
      throw overflow;
    });
    const create = withAutoCompaction(model.send, options);
    const request = shape.request(longItems(shape));
    for (let attempt = 0; attempt < 5; attempt++) await expect(create(request)).rejects.toBe(overflow);
    expect(model.summaries).toHaveLength(1);
    expect(told(events)).toEqual(['started', 'applied']);
  });

  it('B085: a failed compaction by hand does not arm the automatic one again', async () => {
    const { options } = smallOptions(shape);
    const { summarizer, asked } = counting(summarizers.fails!);
    const create = withAutoCompaction(async () => shape.reply({ text: 'Done.' }), { ...options, summary: { summarizer } });
    const items = longItems(shape);
    for (let turn = 0; turn < 6; turn++) {
      await create(shape.request([...items]));
      items.push(...round(`c${turn}`, 400));
    }
    expect(asked()).toBe(3);
    await expect(create.compactor.compact(shape.request(items))).rejects.toMatchObject({ code: 'summarizer-failed' });
    items.push(...round('last', 400));
    await create(shape.request([...items]));
    expect(asked()).toBe(4);
    expect(await create.compactor.plan(shape.request(items))).toMatchObject({ gate: 'suppressed' });
    // The user's next word does.
    items.push(assistant('Hm.'), user('Try again.'), ...round('again', 400));
    await create(shape.request([...items]));
    expect(asked()).toBe(5);
  });

  it('B086: a newest turn that is larger than what may be kept is compacted with all that came before it', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, {
      ...options,
      contextWindow: 100_000,
      budget: { threshold: 50_000, countTokens },
    });
    const old = Array.from({ length: 10 }, (_, index) => [user(`old ${index} ${'y'.repeat(15_000)}`), assistant('Ok.')]).flat();
    const entries = ['c1', 'c2', 'c3', 'c4'].map((id): [string, string] => [id, 'z'.repeat(48_000)]);
    await create(shape.request([...old, user('The newest question.'), ...calls(entries.map(([id]) => id)), ...results(entries)]));
    expect(told(events)).toEqual(['started', 'applied']);
    expect(sizeOf(shape, model.turns[0]!.request)).toBeLessThan(1000);
    expect(transcript(shape, model.turns[0]!.request).join()).toContain('The newest question.');
  });

  it('B088: one turn that would outgrow any window is compacted on its way, round by round', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, { ...options, budget: { countTokens } });
    const items = [user('Do all of it.')];
    for (let turn = 0; turn < 80; turn++) {
      items.push(...round(`c${turn}`, 700)); // 80 rounds are one and a half windows
      await create(shape.request([...items]));
    }
    expect(sizeOf(shape, shape.request(items))).toBeGreaterThan(1.4 * smallBudget.contextWindow);
    for (const { request } of model.turns) {
      expect(sizeOf(shape, request)).toBeLessThan(6000);
      expect(transcript(shape, request).join()).toContain('Do all of it.');
    }
    expect(ends(events)).toEqual(Array(model.summaries.length).fill('applied'));
    expect(model.summaries.length).toBeLessThan(6);
  });

  it('B090: passes that reclaim next to nothing end after the third', async () => {
    const { options, events } = smallOptions(shape);
    const { summarizer, asked } = counting(summarizers['saves next to nothing']!);
    const create = withAutoCompaction(async () => shape.reply({ text: 'Done.' }), { ...options, summary: { summarizer } });
    const items = longItems(shape);
    for (let turn = 0; turn < 14; turn++) {
      await create(shape.request([...items]));
      items.push(...round(`c${turn}`, 200));
    }
    expect(asked()).toBe(3);
    expect(ends(events)).toEqual(Array(3).fill('failed not-smaller'));
  });

  it('B090: after a success the history must grow by a part of the budget before the next attempt', async () => {
    const { options, events } = smallOptions(shape);
    const { summarizer, asked } = counting(() => 'a'.repeat(3000)); // stays over the threshold
    const create = withAutoCompaction(async () => shape.reply({ text: 'Done.' }), { ...options, summary: { summarizer } });
    const items = longItems(shape);
    for (let turn = 0; turn < 10; turn++) {
      await create(shape.request([...items]));
      items.push(...round(`c${turn}`, 100)); // all of them are not twice 5 % of the input budget
    }
    expect(asked()).toBe(2);
    expect(told(events)).toContain('notice still-over-threshold');
  });

  it('B091: it is the next real request that is smaller, and every one after it', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, { ...options, budget: { countTokens } });
    const items = [user('Begin.')];
    for (let turn = 0; turn < 40; turn++) {
      items.push(...round(`c${turn}`, 2000));
      await create(shape.request([...items]));
    }
    const sizes = model.turns.map(({ request }) => sizeOf(shape, request));
    const applied = events.filter((event) => event.type === 'auto_compaction_applied');
    expect(applied.length).toBeGreaterThanOrEqual(3);
    expect(Math.max(...sizes)).toBeLessThan(6000);
    for (const event of applied) expect(sizes).toContain(event.tokensAfter);
  });

  it('B091: a loop sends what it has compacted, too', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape);
    const compactor = createCompactor({ ...options, send: model.send });
    const loop = compactor.loop(shape.request(longItems(shape)));
    const before = loop.estimate().tokens;
    await loop.send();
    expect(sizeOf(shape, model.turns[0]!.request)).toBeLessThan(before / 3);
    expect(loop.estimate().tokens).toBe(sizeOf(shape, model.turns[0]!.request));
  });
});
