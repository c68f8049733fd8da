import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AutoCompactingLoop } from '../../src/loop.ts';
import type { Message } from '../../src/message.ts';
import { extractSummary } from '../../src/summarize/extractive.ts';
import { withAutoCompaction } from '../../src/wrap.ts';
import { countTokens, longItems, occurrences, replacementsIn, reportModel, smallOptions, told } from '../support/report-model.ts';
import { onAllShapes } from '../support/report-shapes.ts';

// That counting survives any text is tested in test/budget/tokenizer.test.ts.

const emoji = '👩‍👩‍👧‍👦🚀';
const lone = ['\ud83d', '\ude80'] as const;

/** Every kind of text that a summary is cut from, full of surrogate pairs that begin at `shift`. */
function emojiConversation(shift: number): Message[] {
  const text = (length: number): string => 'x'.repeat(shift) + emoji.repeat(Math.ceil(length / emoji.length));
  const call = (id: string, name: string, input: unknown): Message => ({
    role: 'assistant',
    parts: [{ type: 'toolCall', id, name, input }],
  });
  const result = (callId: string, output: string, isError = false): Message => ({
    role: 'tool',
    parts: [{ type: 'toolResult', callId, content: [{ type: 'text', text: output }], isError }],
  });
  return [
    { role: 'user', parts: [{ type: 'text', text: `Never touch ${text(900)}. Always use ${text(900)}.` }] },
    call('c1', 'bash', { command: `echo ${text(5000)}` }),
    result('c1', `Error: ${text(900)}\nexit code 1`, true),
    call('c2', 'write', { path: `src/${text(400)}.ts`, content: text(900) }),
    result('c2', `const limit = 4711; ${text(1000)}`),
    { role: 'assistant', parts: [{ type: 'text', text: `Found that ${text(900)}. Next I will ${text(900)}.` }] },
    { role: 'user', parts: [{ type: 'text', text: text(3000) }] },
  ];
}

it('B138: no cut of the extractive summary splits a character, wherever the characters begin and however small the cap', () => {
  for (let shift = 0; shift < emoji.length; shift++)
    for (const maxTokens of [5, 17, 64, 200, 601, 1500, 8000]) {
      const summary = extractSummary(emojiConversation(shift), { maxTokens, countTokens });
      expect(summary.isWellFormed()).toBe(true);
      expect(summary).not.toContain('\ufffd');
    }
});

onAllShapes((shape) => {
  const { user, calls, results, assistant } = shape;
  const isWellFormed = (request: object): boolean => !/\\ud[89a-f]/i.test(JSON.stringify(request)); // JSON escapes halves alone

  it('B138: the property: whatever is in a conversation, what is rebuilt, asked and stored is well formed', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom(...lone, 'a', emoji, '\0', '\n'), { maxLength: 12 }).map((pieces) => pieces.join('')),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 4, maxLength: 4 }), async ([said, output, answer, summary]) => {
        const { options, events } = smallOptions(shape);
        const stored: object[] = [];
        const model = reportModel(shape, [() => shape.reply({ text: `## Goal\n${summary}` })]); // refuses half characters
        const create = withAutoCompaction(model.send, { ...options, commit: (commit) => void stored.push(commit) });
        const items = [
          ...longItems(shape),
          assistant(`a${answer}`),
          user(`u${said}`),
          ...calls(['c']),
          ...results([['c', `r${output}`]]),
        ];
        await create(shape.request(items));
        expect(told(events)).toContain('applied');
        const later = [...items, assistant(`b${answer}`), user(`v${said}`)];
        const sent = await create.compactor.prepare(shape.request(later));
        expect(shape.validate(sent)).toEqual([]);
        expect([...stored, sent, create.compactor.snapshot(shape.request(later))].every(isWellFormed)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('B140: half a character is replaced the same way in the request, in the store and in the history of a loop', async () => {
    for (const half of lone) {
      const { options } = smallOptions(shape);
      const model = reportModel(shape);
      const stored: object[] = [];
      const loop = new AutoCompactingLoop(shape.request(longItems(shape)), {
        ...options,
        send: model.send,
        commit: (commit) => void stored.push(commit),
      });
      await loop.appendReply(shape.reply({ text: `broken ${half} answer` }));
      expect(occurrences(loop.request, 'broken \ufffd answer')).toBe(1);
      loop.append([user(`broken ${half} question`)]);
      await loop.send();
      expect(occurrences(model.summaries[0]!.request, 'broken \ufffd answer')).toBe(1);
      expect(replacementsIn(shape, model.turns[0]!.request)).toMatchObject([{ lastUser: 'broken \ufffd question' }]);
      expect(occurrences(stored, 'broken \ufffd question')).toBeGreaterThan(0);
      expect([...stored, loop.request, loop.history].every(isWellFormed)).toBe(true);
    }
  });
});
