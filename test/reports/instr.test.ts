import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createCompactor } from '../../src/compactor.ts';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { buildAutoCompactionPrompt, buildCompactionPrompt } from '../../src/prompt/instruction.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { brokenHistory, validHistory, writeEvents } from '../support/report-histories.ts';
import {
  countTokens,
  goodSummary,
  longItems,
  occurrences,
  reportModel,
  smallOptions,
  transcript,
} from '../support/report-model.ts';
import { chatShape, onAllShapes, systemText, withoutConversation } from '../support/report-shapes.ts';

const denial = 'Tool calls are disabled during compaction; use the history.';
/** Every line of both instructions, apart from the headings that a summary has too. */
const needles = [buildCompactionPrompt('TRIPWIRE'), buildAutoCompactionPrompt(), denial]
  .flatMap((prompt) => prompt.split('\n'))
  .filter((line) => line.trim() !== '' && !line.startsWith('## '));

onAllShapes((shape) => {
  const { user, calls, results, assistant, adapter } = shape;

  it('the property: instructions of the host stay as they are, once, and those of the library are in no turn', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(validHistory, brokenHistory), fc.boolean(), async (events, byHand) => {
        const { options } = smallOptions(shape);
        const model = reportModel(shape, [() => shape.reply({ calls: ['denied'] })]);
        const create = withAutoCompaction(model.send, {
          ...options,
          budget: { threshold: 1, countTokens },
          contextWindow: 100_000,
        });
        const items = [...writeEvents(shape, events), assistant('j'.repeat(2000)), user('Go on.')];
        const request = shape.request(items);
        if (byHand) await create.compactor.compact(request, { instructions: 'TRIPWIRE' });
        await create(request);
        await create(shape.request([...items, assistant('Yes.'), user('More.')]));
        expect(model.summaries.length).toBeGreaterThan(0);
        for (const turn of model.turns) {
          expect(occurrences(turn.request, systemText)).toBe(1);
          expect(JSON.stringify(withoutConversation(turn.request))).toBe(JSON.stringify(withoutConversation(request)));
          const text = JSON.stringify(turn.request);
          for (const needle of needles) expect(text).not.toContain(JSON.stringify(needle).slice(1, -1));
        }
        for (const { request: asked } of model.summaries) {
          expect(occurrences(asked, systemText)).toBe(1);
          expect(occurrences(transcript(shape, asked), systemText)).toBe(0);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('B042: the system prompt is first and unchanged after two compactions, and is no part of what is summarized', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape);
    const loop = new AutoCompactingLoop(shape.request([]), { ...options, send: model.send });
    for (let turn = 0; turn < 20; turn++) {
      loop.append([user(`question ${turn} ${'k'.repeat(400)}`)]);
      await loop.appendReply(await loop.send());
    }
    expect(model.summaries.length).toBeGreaterThanOrEqual(2);
    for (const { request } of [...model.turns, ...model.summaries]) {
      const system =
        adapter.context(request).system ?? adapter.items(request).flatMap((item) => adapter.readItem(item))[0]?.parts;
      expect(JSON.stringify(system)).toContain(systemText);
      expect(occurrences(transcript(shape, request), systemText)).toBe(0);
    }
  });

  it('B043: the system prompt is in every request of a wrapped loop, whoever holds the history', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, options);
    const items = [...longItems(shape)];
    for (let turn = 0; turn < 6; turn++) {
      await create(shape.request([...items]));
      items.push(assistant('Done.'), user(`question ${turn} ${'l'.repeat(1000)}`));
    }
    expect(model.summaries.length).toBeGreaterThanOrEqual(2);
    for (const { request } of model.turns) expect(occurrences(request, systemText)).toBe(1);
  });

  it('B044: a summary request holds one instruction, as the last word of the user', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape, [() => shape.reply({ calls: ['denied'] })]);
    const compactor = createCompactor({ ...options, send: model.send });
    const request = shape.request(longItems(shape));
    await compactor.prepare(request);
    await compactor.compact(shape.request([...longItems(shape), assistant('m'.repeat(3000)), user('Now?')]), {
      conversation: 'other',
    });
    expect(model.summaries).toHaveLength(3);
    for (const { request: asked } of model.summaries) expect(occurrences(asked, 'This is a context compaction request.')).toBe(1);
    const [automatic, , manual] = model.summaries;
    expect(transcript(shape, automatic!.request)).toEqual([
      ...transcript(shape, request),
      expect.stringContaining(JSON.stringify(buildAutoCompactionPrompt())),
    ]);
    expect(transcript(shape, manual!.request).at(-1)).toContain(JSON.stringify(buildCompactionPrompt()));
  });

  it('B046: rules of the host are there word for word after five compactions', async () => {
    const { options } = smallOptions(shape);
    const rules = `${systemText}\n\n<project_rules>\nUse tabs — "always".\nÄlter als 3 Tage: löschen.\n</project_rules>`;
    const model = reportModel(shape);
    const create = withAutoCompaction(model.send, options);
    const items = [user('Start.')];
    let compactions = 0;
    for (let turn = 0; compactions < 5 && turn < 40; turn++) {
      items.push(...calls([`c${turn}`]), ...results([[`c${turn}`, `${goodSummary} ${'n'.repeat(1500)}`]]));
      await create(shape.request([...items], { system: rules }));
      compactions = model.summaries.length;
    }
    expect(compactions).toBe(5);
    for (const { request } of [...model.turns, ...model.summaries]) expect(occurrences(request, rules)).toBe(1);
  });
});

onAllShapes((shape) => {
  const { user, assistant, calls, results, adapter } = shape;
  const rule = (text: string) => adapter.writeMessage({ role: 'system', parts: [{ type: 'text', text }] });
  const [rules, others] = [rule('Rule one.'), rule('Rule two.')];

  it('B046: system messages in the middle of a conversation stay, in their order, behind the replacement', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape);
    const items = [
      ...[user('Read the first file.'), ...rules, ...calls(['call_1']), ...results([['call_1', 'a'.repeat(2000)]]), ...others],
      ...[assistant('Read it.'), user('Read the second file.'), ...calls(['call_2']), ...results([['call_2', 'b'.repeat(2000)]])],
    ];
    // The others have none: their rules stand beside the conversation, or are words of the user.
    if (
      shape.validate(shape.request(items)).length > 0 ||
      !shape.adapter.readItem(rules[0]!).some(({ role }) => role === 'system')
    )
      return expect(['openai-codex', 'genkit', 'google-genai', 'langchain']).toContain(shape.name);
    const create = withAutoCompaction(model.send, options);
    for (let turn = 0; turn < 6; turn++) {
      await create(shape.request([...items]));
      items.push(assistant('Done.'), user(`question ${turn} ${'o'.repeat(1500)}`));
    }
    expect(model.summaries.length).toBeGreaterThanOrEqual(3);
    for (const { request } of model.turns) {
      for (const text of ['Rule one.', 'Rule two.']) expect(occurrences(request, text)).toBe(1);
      const said = JSON.stringify(request);
      expect(said.indexOf('Rule one.')).toBeLessThan(said.indexOf('Rule two.'));
    }
  });
});

it('B046: developer messages in the middle of a conversation stay, in their order, behind the replacement', async () => {
  const { options } = smallOptions(chatShape);
  const model = reportModel(chatShape);
  const rule = (text: string) => ({ role: 'developer', content: text });
  const items = [...longItems(chatShape)];
  items.splice(1, 0, rule('Rule one.'));
  items.splice(4, 0, rule('Rule two.'));
  const create = withAutoCompaction(model.send, options);
  for (let turn = 0; turn < 6; turn++) {
    await create(chatShape.request([...items]));
    items.push(chatShape.assistant('Done.'), chatShape.user(`question ${turn} ${'o'.repeat(1500)}`));
  }
  expect(model.summaries.length).toBeGreaterThanOrEqual(3);
  for (const { request } of model.turns) {
    const rules = request.messages.filter(({ role }) => role === 'developer');
    expect(rules).toEqual([rule('Rule one.'), rule('Rule two.')]);
  }
});
