import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openaiResponses, type ResponsesItem } from '../../src/adapters/openai-responses.ts';
import { isCompactionError } from '../../src/errors.ts';
import { boundInput } from '../../src/summarize/native/bound-input.ts';
import { nativeTask } from '../support/native-task.ts';

const isMarker = ({ type }: ResponsesItem): boolean => type === 'compaction';
const size = fc.integer({ min: 0, max: 3000 });

let ids = 0;
const turn = size.map((length): ResponsesItem[] => {
  const call_id = `call_${++ids}`;
  return [
    { type: 'function_call', call_id, name: 'read', arguments: '{}' },
    { type: 'function_call_output', call_id, output: 'x'.repeat(length) },
  ];
});
const said = size.map((length): ResponsesItem[] => [
  { type: 'message', role: 'user', content: `Go on.${' On.'.repeat(length)}` },
]);
const marker = size.map((length): ResponsesItem[] => [{ type: 'compaction', encrypted_content: 'g'.repeat(length + 1) }]);
const conversation = fc
  .array(fc.oneof({ weight: 4, arbitrary: turn }, { weight: 2, arbitrary: said }, { weight: 1, arbitrary: marker }), {
    minLength: 1,
  })
  .map((parts) => [{ type: 'message', role: 'developer', content: 'Be brief.' }, ...parts.flat()]);

it('V31: in any conversation and any room, keeps the newest compaction alone and fits, or says why not', () => {
  const seen = { whole: 0, bounded: 0, refused: 0 };
  fc.assert(
    fc.property(conversation, fc.integer({ min: -20_000, max: 500 }), (input, roomForOutput) => {
      const task = nativeTask(openaiResponses(), { model: 'gpt-5', input }, { roomForOutput, maxTokens: 200 });
      const limit = task.countItems(input) + roomForOutput - 200;
      const newest = input.findLast(isMarker);
      let bounded: ReturnType<typeof boundInput<object, ResponsesItem, unknown>>;
      try {
        bounded = boundInput(task, isMarker);
      } catch (error) {
        expect(isCompactionError(error) && error.code).toBe('summarizer-overflow');
        seen.refused++;
        return;
      }
      if (!bounded) {
        expect(roomForOutput).toBeGreaterThanOrEqual(64);
        seen.whole++;
        return;
      }
      seen.bounded++;
      const { items } = bounded;
      expect(items.filter(isMarker)).toEqual(newest ? [newest] : []);
      const kept = items.slice(0, items.findIndex(isMarker) + 1);
      const most = newest ? Math.max(limit, task.countItems(kept) + 256) : limit;
      expect(task.countItems(items)).toBeLessThanOrEqual(most);
      if (newest) expect(input.indexOf(newest)).toBeGreaterThanOrEqual(items.indexOf(newest));
    }),
    { numRuns: 300 },
  );
  expect(Math.min(seen.whole, seen.bounded, seen.refused)).toBeGreaterThan(0);
});
