import { describe, expect, it } from 'vitest';
import { AutoCompactingLoop } from '../../src/loop.ts';
import { buildAutoCompactionPrompt, buildCompactionPrompt } from '../../src/prompt/instruction.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { freezeDeep } from '../support/freeze.ts';
import { longItems, occurrences, replacementsIn, reportModel, smallOptions, told, transcript } from '../support/report-model.ts';
import { onAllShapes, type ReplyContent } from '../support/report-shapes.ts';

const cutOff = { text: '## Goal\nShip it.\n\n## Accomplished\nThe parser is done and the next st', finish: 'length' } as const;
const refusal = `I can't produce this summary as requested. ${'The conversation holds material that I may not repeat. '.repeat(40)}`;

/** What the model answers, the code of the failure, and how often it is asked. */
const badReplies: readonly (readonly [name: string, replies: readonly ReplyContent[], code: string])[] = [
  ['B056: an empty reply', [{ text: '', inputTokens: 1000 }], 'empty-summary'],
  ['B056: nothing but white space', [{ text: ' \n\t\n' }], 'empty-summary'],
  [
    'B058: a call in place of text, again after each denial',
    [1, 2, 3, 4].map((round) => ({ calls: [`read_${round}`] })),
    'tool-calls',
  ],
  [
    'B058: words before a call are no summary',
    [{ text: '## Goal\nFirst I look.', calls: ['read_1'] }, { text: '' }],
    'empty-summary',
  ],
  [
    'B059: reasoning that used up the cap, also the doubled one',
    Array(2).fill({ thinking: '## Goal\nShip it.', finish: 'length' }),
    'truncated-summary',
  ],
  ['B060: a text cut in mid-word, also under the doubled cap', Array(2).fill(cutOff), 'truncated-summary'],
  ['B060: a text that just ends', [{ text: '## Goal\nShip it.', finish: 'cut' }], 'incomplete-reply'],
  ['B063: a polite refusal', [{ text: refusal }], 'refused'],
  ['B063: a refusal that the provider marks', [{ text: 'No.', finish: 'refused' }], 'refused'],
  ['B063: a filtered reply', [{ text: '## Goal\nShip', finish: 'filtered' }], 'refused'],
  ['B064: bare reasoning', [{ thinking: '## Goal\nShip it.' }], 'empty-summary'],
  [
    'B064: the markup of a tool call',
    [{ text: '<tool_call>\n{"name": "read", "arguments": {"path": "a.ts"}}\n</tool_call>' }],
    'not-a-summary',
  ],
  ['B064: a tool call in JSON', [{ text: '{"name": "read", "arguments": {"path": "a.ts"}}' }], 'not-a-summary'],
  ['the text of an error', [{ text: 'Error: 502 Bad Gateway' }], 'not-a-summary'],
  ['an echo of the conversation', [{ text: 'a'.repeat(8000) }], 'not-smaller'],
];

onAllShapes((shape) => {
  const { user, assistant } = shape;

  describe('the property: what is no finished summary of this very call changes nothing', () => {
    it.each(badReplies)('%s', async (_name, replies, code) => {
      const { options, events } = smallOptions(shape);
      const script = replies.map((reply) => () => shape.reply(reply));
      const items = freezeDeep(longItems(shape));
      const commit = () => expect.unreachable('nothing to store');

      const automatic = reportModel(shape, script);
      const request = freezeDeep(shape.request(items));
      await withAutoCompaction(automatic.send, { ...options, commit })(request);
      expect(told(events)).toEqual(['started', `failed ${code}`]);
      expect(automatic.turns.map((turn) => turn.request)).toEqual([request]);
      expect(automatic.turns[0]!.request).toBe(request);
      expect(automatic.summaries).toHaveLength(replies.length);

      const manual = reportModel(shape, script);
      const loop = new AutoCompactingLoop(request, { ...options, commit, send: manual.send });
      const before = JSON.stringify(loop.request);
      await expect(loop.compact()).rejects.toMatchObject({ code });
      expect(manual.summaries).toHaveLength(replies.length);
      expect(JSON.stringify(loop.request)).toBe(before);
      expect(loop.snapshot()).toMatchObject({ overlay: undefined, replacements: [] });
    });
  });

  it('an echo of the instruction is no summary', async () => {
    const { options, events } = smallOptions(shape);
    const prompts = [buildAutoCompactionPrompt(), `Sure.\n${buildCompactionPrompt()}`];
    const model = reportModel(
      shape,
      prompts.map((text) => () => shape.reply({ text })),
    );
    const loop = new AutoCompactingLoop(shape.request(longItems(shape)), { ...options, send: model.send });
    await loop.prepare();
    expect(told(events)).toEqual(['started', 'failed not-a-summary']);
    await expect(loop.compact()).rejects.toMatchObject({ code: 'not-a-summary' });
  });

  it('B058: a call of the summary request is denied, not run, and in no later request', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape, [() => shape.reply({ text: 'Let me look.', calls: ['private_call'] })]);
    await withAutoCompaction(model.send, options)(shape.request(longItems(shape)));
    expect(model.summaries).toHaveLength(2);
    expect(occurrences(model.summaries[1]!.request, 'Tool calls are disabled during compaction; use the history.')).toBe(1);
    for (const trace of ['private_call', 'Let me look.', 'disabled']) expect(occurrences(model.turns[0]!.request, trace)).toBe(0);
  });

  it('B059: a summary whose cap went to reasoning is asked for once more, with room', async () => {
    const { options } = smallOptions(shape);
    const model = reportModel(shape, [() => shape.reply({ thinking: 'Hm. '.repeat(500), finish: 'length' })]);
    await withAutoCompaction(model.send, options)(shape.request(longItems(shape)));
    const caps = model.summaries.map(({ request }) => shape.adapter.context(request).outputCap ?? 0);
    expect(caps).toEqual([caps[0], caps[0]! * 2]);
    expect(replacementsIn(shape, model.turns[0]!.request)).toHaveLength(1);
    expect(occurrences(model.turns[0]!.request, 'Hm. ')).toBe(0);
  });

  it('B066: neither a scratchpad nor a tag of the model is left in the summary', async () => {
    const texts = [
      '<analysis>mentions <summary> x</analysis><summary>REAL',
      '<analysis>It said </summary>.</analysis>\n<summary>REAL</summary>\n',
      '<summary>REAL</summary>',
      '<think>Hm.</think>REAL',
    ];
    for (const text of texts) {
      const { options } = smallOptions(shape);
      const model = reportModel(shape, [() => shape.reply({ text })]);
      await withAutoCompaction(model.send, options)(shape.request(longItems(shape)));
      expect(replacementsIn(shape, model.turns[0]!.request)).toMatchObject([{ summary: 'REAL' }]);
    }
  });

  it('a reply that comes after the compaction was given up is ignored', async () => {
    const { options, events } = smallOptions(shape);
    let answer: () => void = () => undefined;
    const late = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const model = reportModel(shape, [
      () => late.then(() => shape.reply({ text: 'LATE' })),
      () => shape.reply({ text: 'SECOND' }),
    ]);
    const loop = new AutoCompactingLoop(shape.request([...longItems(shape), assistant('Ok.'), user('Go on.')]), {
      ...options,
      send: model.send,
    });
    const first = loop.prepare();
    await expect.poll(() => model.summaries.length).toBe(1);
    loop.cancelCompaction();
    await first;
    answer();
    await loop.compact();
    expect(told(events)).toEqual(['started', 'cancelled']);
    expect(transcript(shape, loop.request)).toEqual([expect.stringContaining('SECOND')]);
  });
});
