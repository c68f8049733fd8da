import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { buildAutoCompactionPrompt, buildCompactionPrompt } from '../../src/prompt/instruction.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { brokenHistory, validHistory, writeEvents } from '../support/report-histories.ts';
import { countTokens, longItems, occurrences, reportModel, smallOptions, told, transcript } from '../support/report-model.ts';
import { anthropicShape, onBothShapes } from '../support/report-shapes.ts';

onBothShapes((shape) => {
  const { user, calls, results, assistant, adapter } = shape;

  it('the property: a summary request is legal and fits the window with its cap, or is not sent', async () => {
    let refused = 0;
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
              user('a'.repeat(characters)),
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
            expect(cap).toBeGreaterThan(0);
            // The texts alone: what surrounds them in JSON is not counted by the meter.
            expect(size * 0.7 + cap).toBeLessThan(options.contextWindow!);
          }
          if (model.summaries.length > 0 || (!byHand && heard.length === 0)) return;
          refused++;
          expect(byHand ? outcome : told(heard).at(-1)).toMatch(/summarizer-overflow/);
        },
      ),
      { numRuns: 80 },
    );
    expect(refused).toBeGreaterThan(0);
  });

  it('B069: a lower limit of the agent is none of the summary', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, { ...options, contextWindow: 32_000, budget: { ceiling: 8000, countTokens } });
    const request = shape.request([user('Begin.'), calls(['c']), ...results([['c', 'b'.repeat(80_000)]])]);
    expect(create.compactor.estimate(request)).toMatchObject({ overBudget: true });
    await create(request);
    expect(told(events)).toEqual(['started', 'applied']);
  });

  it('B075: a call that was never answered is answered in the summary request', async () => {
    const { options, events } = smallOptions(shape);
    const model = reportModel(shape);
    const items = [user('Begin.'), calls(['x', 'y']), ...results([['y', 'only this one']]), user('Go on.'), ...longItems(shape)];
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
