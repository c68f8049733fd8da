import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { buildAutoCompactionPrompt, buildCompactionPrompt } from '../../src/prompt/instruction.ts';
import { chunkedSummarizer } from '../../src/summarize/chunked.ts';
import { forkSummarizer } from '../../src/summarize/fork.ts';
import { isolatedSummarizer } from '../../src/summarize/isolated.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { brokenHistory, validHistory, writeEvents } from '../support/report-histories.ts';
import {
  countTokens,
  goodSummary,
  longItems,
  occurrences,
  reportModel,
  smallOptions,
  told,
  transcript,
} from '../support/report-model.ts';
import { anthropicShape, onAllShapes } from '../support/report-shapes.ts';

afterEach(() => {
  vi.useRealTimers();
});

onAllShapes((shape) => {
  const { user, calls, results, assistant, adapter } = shape;

  it('the property: a summary request is legal and fits the window with its cap, whatever the history', async () => {
    let bounded = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(validHistory, brokenHistory),
        fc.nat(60_000),
        fc.boolean(),
        async (events, characters, byHand) => {
          const { options, events: heard } = smallOptions(shape);
          const model = reportModel(shape); // refuses what the provider refuses
          const loop = new AutoCompactingLoop(
            shape.request([
              user('a'.repeat(1 + characters)),
              assistant('Ok.'),
              ...writeEvents(shape, events),
              assistant('Ok.'),
              user('Go on.'),
            ]),
            {
              ...options,
              send: model.send,
            },
          );
          const outcome = byHand ? await loop.compact().catch((error: { code: string }) => error.code) : await loop.prepare();
          for (const { request } of model.summaries) {
            const cap = adapter.context(request).outputCap ?? 0;
            const size = transcript(shape, request).reduce((sum, message) => sum + countTokens(message), 0);
            expect(cap > 0).toBe(adapter.context(loop.request).outputCap !== undefined); // some shapes have none
            // The texts alone: what surrounds them in JSON is not counted by the meter.
            expect(size * 0.7 + cap).toBeLessThan(Number(options.contextWindow));
          }
          expect(JSON.stringify([outcome, told(heard)])).not.toMatch(/summarizer-overflow/);
          if (told(heard).includes('notice omitted')) bounded++;
        },
      ),
      { numRuns: 80 },
    );
    expect(bounded).toBeGreaterThan(0);
  });

  /** Compacts in a window of 50,000 tokens, and gives back the sizes of the summary requests with what was left out. */
  async function boundedBy(items: ReturnType<typeof user>[]) {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape); // refuses what the provider refuses
    const create = withAutoCompaction(model.send, {
      ...options,
      contextWindow: 50_000,
      budget: { threshold: 1000, countTokens },
      when: 'every-request',
    });
    await create(shape.request(items));
    const sizes = model.summaries.map(({ request }) => countTokens(JSON.stringify(transcript(shape, request))));
    return { sizes, told: told(events), sent: model.turns[0]!.request };
  }

  it('B067: messages of the assistant count and are shortened, too', async () => {
    const long = Array.from({ length: 200 }, (_, turn) => [user(`question ${turn}`), assistant('v'.repeat(9000))]).flat();
    const { sizes, told: heard, sent } = await boundedBy([...long, user('And now?')]);
    expect(heard).toEqual(expect.arrayContaining(['started', 'notice omitted', 'applied']));
    expect(sizes).toHaveLength(1);
    expect(sizes[0]).toBeLessThan(50_000);
    expect(transcript(shape, sent)).toHaveLength(1);
  });

  it('B067: reasoning counts and is shortened, too', async () => {
    const turns = await Promise.all(
      Array.from({ length: 40 }, async (_, turn) => {
        const reply = shape.reply({ thinking: 't'.repeat(12_000), text: `Answer ${turn}.` });
        return [user(`question ${turn}`), ...(await adapter.readReply(reply, {})).items];
      }),
    );
    const { sizes, told: heard } = await boundedBy([
      ...turns.flat(),
      user('v'.repeat(90_000)),
      assistant('Ok.'),
      user('And now?'),
    ]);
    expect(heard.filter((event) => !event.startsWith('notice'))).toEqual(['started', 'applied']);
    expect(sizes).toHaveLength(1);
    expect(sizes[0]).toBeLessThan(50_000);
  });

  it('B068: one result of 1.2 million characters does not keep the conversation from being summarized', async () => {
    const dump = results([['dump', 'QUJD'.repeat(300_000)]]);
    const { sizes, told: heard } = await boundedBy([
      user('Begin.'),
      ...calls(['dump']),
      ...dump,
      assistant('Ok.'),
      user('And now?'),
    ]);
    expect(heard).toEqual(expect.arrayContaining(['started', 'notice omitted', 'applied']));
    expect(sizes).toHaveLength(1);
    expect(sizes[0]).toBeLessThan(50_000);
  });

  it('B069: a lower limit of the agent is none of the summary', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, { ...options, contextWindow: 32_000, budget: { ceiling: 8000, countTokens } });
    const request = shape.request([user('Begin.'), ...calls(['c']), ...results([['c', 'b'.repeat(80_000)]])]);
    expect(create.compactor.estimate(request)).toMatchObject({ overBudget: true });
    await create(request);
    expect(told(events)).toEqual(['started', 'applied']);
  });

  it('B073: pieces that were finished before the deadline are not asked about again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const later = (): Promise<ReturnType<typeof shape.reply>> =>
      new Promise((resolve) => setTimeout(() => resolve(shape.reply({ text: goodSummary })), 50_000));
    const { options, events } = smallOptions(shape);
    const model = reportModel(
      shape,
      Array.from({ length: 20 }, () => later),
    ); // refuses what the provider refuses
    const create = withAutoCompaction(model.send, {
      ...options,
      summary: { summarizer: chunkedSummarizer(), timeout: 180_000, retries: 0 },
    });
    const turns = Array.from({ length: 18 }, (_, turn) => [user(`<M${turn}> ${'x'.repeat(8000)}`), assistant('Ok.')]).flat();
    const run = async (items: typeof turns): Promise<number> => {
      const before = model.summaries.length;
      const reply = create(shape.request(items));
      await vi.advanceTimersByTimeAsync(600_000);
      await reply;
      return model.summaries.length - before;
    };
    const first = await run([...turns, user('Go on.')]);
    expect(told(events).filter((event) => !event.startsWith('notice'))).toEqual(['started', 'failed deadline']);
    expect(first).toBe(4); // the fourth was under way
    const second = await run([...turns, user('Go on.'), assistant('Ok.'), user('And on.')]);
    expect(told(events).at(-1)).toBe('applied');
    expect(first - 1 + second).toBeLessThanOrEqual(7);
    const markers = model.summaries
      .filter((_, index) => index !== first - 1)
      .flatMap(
        ({ request }) =>
          transcript(shape, request)
            .join()
            .match(/<M\d+>/g) ?? [],
      );
    expect(markers).toEqual(Array.from({ length: 18 }, (_, turn) => `<M${turn}>`));
  });

  it('B075: a call that was never answered is answered in the summary request', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const items = [
      user('Begin.'),
      ...calls(['x', 'y']),
      ...results([['y', 'only this one']]),
      user('Go on.'),
      ...longItems(shape),
    ];
    await withAutoCompaction(model.send, options)(shape.request(items));
    expect(told(events)).toContain('applied');
    const asked = model.summaries[0]!.request;
    expect(shape.validate(JSON.parse(JSON.stringify(asked)))).toEqual([]);
    expect(occurrences(asked, 'only this one')).toBe(1);
    expect(occurrences(asked, 'No result was recorded for this call')).toBe(1);
  });

  it('B076: the instruction is in every summary request, behind all that it is about', async () => {
    for (const prompt of [buildAutoCompactionPrompt(), buildCompactionPrompt('Keep the port.')]) {
      const { options } = smallOptions(shape);
      const model = reportModel(shape, [
        () => shape.reply({ calls: ['denied'] }),
        () => shape.reply({ text: '## Goal\nCut of', finish: 'length' }),
      ]);
      const loop = new AutoCompactingLoop(shape.request(longItems(shape)), { ...options, send: model.send });
      if (prompt === buildAutoCompactionPrompt()) await loop.prepare();
      else await loop.compact({ instructions: 'Keep the port.' });
      expect(model.summaries).toHaveLength(3);
      expect(prompt).toContain('Do not continue the task');
      for (const { request } of model.summaries) {
        const said = transcript(shape, request);
        const place = said.findIndex((message) => message.includes(JSON.stringify(prompt)));
        // Behind it there is nothing but the denials of this very request.
        expect(said.slice(place + 1).every((message) => /denied/.test(message))).toBe(true);
        expect(said.slice(0, place)).toEqual(transcript(shape, shape.request(longItems(shape))));
      }
    }
  });
});

it('B070: tool blocks are never sent without the tools that they need', async () => {
  const { options } = smallOptions(anthropicShape);
  const model = reportModel(anthropicShape, [() => anthropicShape.reply({ calls: ['denied'] })]);
  const loop = new AutoCompactingLoop(anthropicShape.request(longItems(anthropicShape)), { ...options, send: model.send });
  await loop.compact();
  expect(model.summaries).toHaveLength(2);
  const [first] = model.summaries;
  expect(first!.request.tools).toHaveLength(2);
  const { tools: _tools, ...bare } = first!.request;
  expect(anthropicShape.validate(bare).map(({ rule }) => rule)).toContain('tools-missing');
});

onAllShapes((shape) => {
  it('B070: nor where the host gives none any more, as far as the provider takes such a history at all', async () => {
    const given = shape.validate(shape.request(longItems(shape), { tools: false })).map(({ rule }) => rule);
    if (shape.name === 'anthropic') return void expect(given).toContain('tools-missing'); // no turn would have been sent either
    for (const summarizer of [forkSummarizer(), isolatedSummarizer(), chunkedSummarizer()]) {
      const { options } = smallOptions(shape);
      const model = reportModel(shape); // refuses what the provider refuses
      const request = shape.request(longItems(shape), { tools: false });
      const loop = new AutoCompactingLoop(request, { ...options, summary: { summarizer }, send: model.send });
      await loop.compact();
      expect(model.summaries).toHaveLength(1);
    }
  });
});
