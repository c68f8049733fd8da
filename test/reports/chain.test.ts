import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { type Message, textOf } from '../../src/message.ts';
import { readReplacement } from '../../src/prompt/replacement.ts';
import { chunkedSummarizer } from '../../src/summarize/chunked.ts';
import { forkSummarizer } from '../../src/summarize/fork.ts';
import { hierarchicalSummarizer } from '../../src/summarize/hierarchical.ts';
import { isolatedSummarizer } from '../../src/summarize/isolated.ts';
import type { Summarizer } from '../../src/summarize/summarizer.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { occurrences, replacementsIn, reportModel, smallOptions, told, transcript } from '../support/report-model.ts';
import { onAllShapes } from '../support/report-shapes.ts';

/** The numbers as ranges: `0-3,5`. Of a whole range, however long, it stays short. */
function writeRanges(numbers: ReadonlySet<number>): string {
  const ranges: [number, number][] = [];
  for (const number of [...numbers].sort((left, right) => left - right)) {
    const last = ranges.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([start, end]) => `${start}-${end}`).join(',');
}

function readRanges(text: string): number[] {
  return [...text.matchAll(/(\d+)-(\d+)/g)].flatMap(([, start, end]) =>
    Array.from({ length: Number(end) - Number(start) + 1 }, (_, index) => Number(start) + index),
  );
}

/** The marks `[[n]]` of what was said, without what is told in a replacement. */
function marksOf(message: Message): number[] {
  return [...JSON.stringify(message.parts).matchAll(/\[\[(\d+)\]\]/g)].map(([, mark]) => Number(mark));
}

onAllShapes((shape) => {
  const { user, calls, results, assistant, adapter } = shape;
  const neutral = (request: Parameters<typeof adapter.items>[0]): Message[] =>
    adapter.items(request).flatMap((item) => adapter.readItem(item));

  it('the property: after any number of passes each message is covered once, by one summary of bounded size or by the tail', async () => {
    let passes = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ words: fc.integer({ min: 300, max: 3000 }), tools: fc.boolean(), byHand: fc.boolean() }), {
          minLength: 8,
          maxLength: 30,
        }),
        fc.boolean(),
        async (turns, owned) => {
          const shown: number[] = [];
          // Says what it was shown and what the summary before it said.
          const summarizer: Summarizer = async ({ messages }) => {
            const ids = new Set<number>();
            for (const message of messages) {
              const earlier = readReplacement(message);
              if (earlier) for (const id of readRanges(earlier.summary)) ids.add(id);
              else for (const id of marksOf(message)) shown.push(id);
              for (const id of marksOf(message)) ids.add(id);
            }
            return { text: `ids ${writeRanges(ids)}` };
          };
          const { options, events } = smallOptions(shape);
          const create = withAutoCompaction(async () => shape.reply({ text: 'Done.' }), { ...options, summary: { summarizer } });
          const loop = new AutoCompactingLoop(shape.request([]), { ...options, summary: { summarizer } });
          const items: ReturnType<typeof user>[] = [];
          let mark = 0;
          const said = (words: number): string => `[[${mark++}]] ${'word '.repeat(words / 4)}`;
          let sent = shape.request([]);
          for (const [index, { words, tools, byHand }] of turns.entries()) {
            const add = (...turn: ReturnType<typeof user>[]): void => {
              items.push(...turn);
              loop.append(turn);
            };
            add(user(said(words)));
            if (tools) add(...calls([`c${index}`]), ...results([[`c${index}`, said(words)]]));
            if (owned && byHand && index > 0) await loop.compact({ format: 'tagged' });
            sent = owned ? await loop.prepare() : await create.compactor.prepare(shape.request([...items]));

            const replacements = replacementsIn(shape, sent);
            expect(replacements.length).toBeLessThanOrEqual(1);
            expect(occurrences(sent, 'A generated record of the conversation so far')).toBe(replacements.length); // none inside
            const [replacement] = replacements;
            const summarized = readRanges(replacement?.summary ?? '');
            const rest = neutral(sent)
              .filter((message) => !readReplacement(message))
              .flatMap(marksOf);
            expect([...summarized, ...rest]).toEqual(Array.from({ length: mark }, (_, id) => id));
            expect(replacement?.summary.length ?? 0).toBeLessThan(20);
            add(assistant(said(words)));
          }
          passes += told(events).filter((end) => end === 'applied').length;
          expect(new Set(shown).size).toBe(shown.length); // nothing is shown a second time
        },
      ),
      { numRuns: 60 },
    );
    expect(passes).toBeGreaterThan(100);
  });

  it('a pass with nothing new is none, and keeps the good summary', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape);
    const loop = new AutoCompactingLoop(shape.request([user('a'.repeat(3000)), assistant('Ok.')]), {
      ...options,
      send: model.send,
    });
    await loop.compact({ format: 'tagged' });
    const before = JSON.stringify(loop.request);
    await expect(loop.compact()).rejects.toMatchObject({ code: 'nothing-to-compact' });
    for (let attempt = 0; attempt < 3; attempt++) await loop.send();
    expect(JSON.stringify(loop.request)).toBe(before);
    expect(model.summaries).toHaveLength(1);
  });

  it('B092: 31 passes of a summarizer that echoes what it reads leave one wrapper of bounded size', async () => {
    const { options, events } = smallOptions(shape);
    // The wrapper of the earlier pass comes back word for word, and so does everything else as far as it goes.
    const summarizer: Summarizer = async ({ messages }) => ({ text: messages.map(textOf).join('\n').slice(0, 2000) });
    const create = withAutoCompaction(async () => shape.reply({ text: 'Done.' }), { ...options, summary: { summarizer } });
    const items = [user('Begin.')];
    const sizes: number[] = [];
    for (let turn = 0; told(events).filter((end) => end === 'applied').length < 31 && turn < 100; turn++) {
      items.push(...calls([`c${turn}`]), ...results([[`c${turn}`, `${turn} ${'b'.repeat(3000)}`]]));
      const sent = await create.compactor.prepare(shape.request([...items]));
      const messages = neutral(sent);
      expect(messages.flatMap((message) => readReplacement(message) ?? [])).toHaveLength(1);
      sizes.push(JSON.stringify(messages).length);
    }
    expect(told(events).filter((end) => end === 'applied')).toHaveLength(31);
    expect(Math.max(...sizes)).toBeLessThan(3000);
  });

  it('B093: the earlier summary is given to the next pass once', async () => {
    const { options } = smallOptions(shape);
    const first = '## Goal\nThe first summary, word for word.';
    const model = reportModel(shape, [() => shape.reply({ text: first })]);
    const create = withAutoCompaction(model.send, options);
    const items = [user('Begin.')];
    for (let turn = 0; turn < 8; turn++) {
      items.push(...calls([`c${turn}`]), ...results([[`c${turn}`, 'd'.repeat(2000)]]));
      await create(shape.request([...items]));
    }
    expect(model.summaries.length).toBeGreaterThan(2);
    expect(model.summaries.map(({ request }) => occurrences(request, first))).toEqual([
      0,
      1,
      ...model.summaries.slice(2).map(() => 0),
    ]);
  });

  it('B097: each pass reads the summary before it word for word, and the rule to carry it over', async () => {
    const { options } = smallOptions(shape);
    const summaries = Array.from({ length: 4 }, (_, pass) => `## Discoveries\nThe port is 8080, says pass ${pass}.`);
    const model = reportModel(
      shape,
      summaries.map((text) => () => shape.reply({ text })),
    );
    const loop = new AutoCompactingLoop(shape.request([user('Begin.')]), { ...options, send: model.send });
    for (let pass = 0; pass < 4; pass++) {
      loop.append([assistant('Ok.'), user('Go on.'), ...calls([`c${pass}`]), ...results([[`c${pass}`, 'e'.repeat(3000)]])]);
      if (pass % 2 === 0) await loop.send();
      else await loop.compact();
      const asked = model.summaries[pass]!.request;
      if (pass > 0) expect(occurrences(asked, summaries[pass - 1]!)).toBe(1);
      expect(transcript(shape, asked).at(-1)).toContain('Carry over every fact that still matters from an earlier summary');
    }
    expect(model.summaries).toHaveLength(4);
  });

  it.each(Object.entries({ isolatedSummarizer, hierarchicalSummarizer, chunkedSummarizer }))(
    'B097: so it is with %s: some request holds the earlier summary, the rule, and what came after it',
    async (_name, create) => {
      const { options } = smallOptions(shape);
      const first = '## Discoveries\nThe port is 8080, says the first pass.';
      const model = reportModel(shape, [() => shape.reply({ text: first })]);
      const settings = { ...options, summary: { summarizer: forkSummarizer(), retries: 0 }, send: model.send };
      const loop = new AutoCompactingLoop(shape.request([user('Begin.'), assistant('f'.repeat(3000)), user('Go on.')]), settings);
      await loop.prepare();
      // Long enough for several pieces.
      const turns = Array.from({ length: 12 }, (_, turn) => [user(`step ${turn}`), assistant('g'.repeat(4000))]).flat();
      const next = new AutoCompactingLoop(
        adapter.withItems(loop.request, [...adapter.items(loop.request), assistant('Ok.'), ...turns, user('Go on.')]),
        { ...settings, summary: { summarizer: create(), retries: 0 } },
      );
      model.summaries.length = 0;
      await next.compact();
      const carrying = model.summaries.filter(({ request }) => occurrences(request, 'says the first pass') > 0);
      expect(carrying).toHaveLength(1);
      expect(transcript(shape, carrying[0]!.request).join()).toContain(
        'Carry over every fact that still matters from an earlier summary',
      );
    },
  );
});
