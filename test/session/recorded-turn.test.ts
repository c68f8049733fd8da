import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../src/adapters/openai-chat.ts';
import { type ToolActivity, writeTurn } from '../../src/session.ts';

const read = (textOffset: number, more: Partial<ToolActivity> = {}): ToolActivity => ({
  id: '',
  tool: 'read',
  input: { path: 'a.ts' },
  textOffset,
  status: 'success',
  output: 'ok',
  ...more,
});
const call = (id: string) => ({ type: 'toolCall', id, name: 'read', input: { path: 'a.ts' } });
const text = (said: string) => ({ type: 'text', text: said });

describe('K13: a recorded turn in steps', () => {
  it('is parted at the place of each batch, and calls at one place are one batch', () => {
    const turn = { text: 'First. Then. End.', activities: [read(6), read(6), read(12)] };
    const messages = writeTurn(turn, 4);
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant', 'tool', 'assistant']);
    expect(messages[0]?.parts).toEqual([text('First.'), call('historical_4_0'), call('historical_4_1')]);
    expect(messages[1]?.parts).toMatchObject([{ callId: 'historical_4_0' }, { callId: 'historical_4_1' }]);
    expect(messages[2]?.parts).toEqual([text(' Then.'), call('historical_4_2')]);
    expect(messages[4]?.parts).toEqual([text(' End.')]);
  });

  it.each([
    ['behind the cursor', [read(3), read(1)]],
    ['past the end', [read(3), read(99)]],
    ['inside a character', [read(3), read(5)]],
    ['no number', [read(3), read(Number.NaN)]],
    ['without a tool', [read(3), read(4, { tool: '' })]],
  ])('passes over an activity whose place is %s', (_name, activities) => {
    const messages = writeTurn({ text: 'abc 📦', activities });
    expect(messages.flatMap(({ parts }) => parts).filter(({ type }) => type === 'toolCall')).toHaveLength(1);
  });

  it('loses no word, whatever the places, and is read by an adapter as it was written', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.integer({ min: -2, max: 20 })), (said, offsets) => {
        const messages = writeTurn({ text: said, activities: offsets.map((offset) => read(offset)) });
        const texts = messages.flatMap(({ parts }) => parts).map((part) => (part.type === 'text' ? part.text : ''));
        const calls = messages.flatMap(({ parts }) => parts).filter(({ type }) => type === 'toolCall');
        const results = messages.filter(({ role }) => role === 'tool').flatMap(({ parts }) => parts);
        expect(texts.join('')).toBe(said);
        expect(results).toHaveLength(calls.length);
        const items = messages.flatMap((message) => openaiChat().writeMessage(message));
        expect(items.filter(({ role }) => role === 'tool')).toHaveLength(calls.length);
      }),
    );
  });
});

describe('K14: what stands for a result', () => {
  const resultOf = (activity: ToolActivity) => writeTurn({ text: '', activities: [activity] })[1]?.parts[0];

  it('is the output where there is one', () => {
    expect(resultOf(read(0))).toMatchObject({ content: [text('ok')] });
    expect(resultOf(read(0, { output: [{ type: 'text', text: 'in parts' }] }))).toMatchObject({ content: [text('in parts')] });
  });

  it('is status and exit code where there is none, and all but success is an error', () => {
    expect(resultOf(read(0, { output: undefined }))).toMatchObject({ content: [text('{"status":"success"}')] });
    const failed = resultOf(read(0, { output: undefined, status: 'timeout', exitCode: 124 }));
    expect(failed).toMatchObject({ isError: true, content: [text('{"status":"error","exit_code":124}')] });
  });

  it('is nothing while the tool runs', () => {
    expect(writeTurn({ text: '', activities: [read(0, { status: undefined })] })).toHaveLength(1);
  });
});
