import { expect, it } from 'vitest';
import { createTurnRecorder } from '../../src/session.ts';

const call = { id: 'call_1', name: 'read', input: {} };

it('K53: the text of a turn is what was stored and what came after, with nothing between', () => {
  const recorder = createTurnRecorder();
  recorder.onText('Half of');
  recorder.markStored(recorder.unstored);
  recorder.onText(' it.');
  expect(recorder.text).toBe('Half of it.');
  expect(recorder.unstored).toEqual({ text: ' it.', activities: [] });
});

it('what was stored is not given out again, and the places of what follows are those in the rest', () => {
  const recorder = createTurnRecorder();
  recorder.onText('Reading. ');
  recorder.onToolStart(call);
  recorder.onToolEnd({ id: 'call_1', output: 'ok' });
  const first = recorder.unstored;
  recorder.onText('More. ');
  recorder.onToolStart({ ...call, id: 'call_2' });
  recorder.markStored(first);
  expect(recorder.unstored).toMatchObject({ text: 'More. ', activities: [{ id: 'call_2', textOffset: 6 }] });
  expect(recorder.messages()).toMatchObject([{ role: 'assistant', parts: [{ text: 'More. ' }, { id: 'call_2' }] }]);
  expect(recorder.activities.map(({ textOffset }) => textOffset)).toEqual([9, 15]);
});

it('K2: what is given and what is taken are copies', () => {
  const recorder = createTurnRecorder();
  const [input, output] = [{ path: 'a.ts' }, [{ type: 'text' as const, text: 'ok' }]];
  recorder.onToolStart({ ...call, input });
  recorder.onToolEnd({ id: 'call_1', output });
  input.path = 'changed';
  output.length = 0;
  for (const { activities } of [recorder, recorder.unstored]) Object.assign(Object(activities[0]?.input), input);
  for (const { parts } of recorder.messages())
    for (const part of parts) if ('input' in part) Object.assign(Object(part.input), input);
  expect(recorder.activities).toMatchObject([{ input: { path: 'a.ts' }, output: [{ text: 'ok' }] }]);
});

it('a tool that ends after its call was stored is still seen to end', () => {
  const recorder = createTurnRecorder();
  recorder.onToolStart(call);
  recorder.markStored(recorder.unstored);
  recorder.onToolEnd({ id: 'call_1', status: 'error', output: 'gone' });
  expect(recorder.activities).toMatchObject([{ status: 'error', output: 'gone' }]);
});

it('calls of one id end in the order in which they began, each once', () => {
  const recorder = createTurnRecorder();
  for (const path of ['a.ts', 'b.ts']) recorder.onToolStart({ ...call, input: { path } });
  for (const output of ['a', 'b', 'again']) recorder.onToolEnd({ id: 'call_1', output });
  expect(recorder.activities.map(({ output }) => output)).toEqual(['a', 'b']);
});

it('what was taken back before it was stored hides nothing of what came in its place', () => {
  const recorder = createTurnRecorder();
  recorder.onText('Void.');
  const taken = recorder.unstored;
  recorder.onRestart();
  recorder.markStored(taken);
  recorder.onText('What came.');
  expect(recorder.unstored.text).toBe('What came.');
});

it('what is taken as stored twice, or after the next turn began, hides nothing of what came later', () => {
  const recorder = createTurnRecorder();
  recorder.onText('First. ');
  const [once, again] = [recorder.unstored, recorder.unstored];
  recorder.onText('Second. ');
  recorder.markStored(once);
  recorder.markStored(again);
  expect(recorder.unstored.text).toBe('Second. ');
  const late = recorder.unstored;
  recorder.start();
  recorder.onText('Next turn.');
  recorder.markStored(late);
  expect(recorder.unstored.text).toBe('Next turn.');
});

it('a call that was denied shows as a failed activity', () => {
  const recorder = createTurnRecorder();
  recorder.onToolStart(call);
  recorder.onToolEnd({ id: 'call_1', status: 'error', output: 'Tool calls are disabled during compaction; use the history.' });
  expect(recorder.messages()[1]).toMatchObject({ role: 'tool', parts: [{ isError: true }] });
});

it('K44: a retry takes back the text since the last tool, and nothing that was stored', () => {
  const recorder = createTurnRecorder();
  recorder.onText('Reading. ');
  recorder.onToolStart(call);
  recorder.onText('Fail');
  recorder.onRestart();
  expect(recorder.text).toBe('Reading. ');
  recorder.onText('Kept. ');
  recorder.markStored(recorder.unstored);
  recorder.onText('Fail again');
  recorder.onRestart();
  expect(recorder.text).toBe('Reading. Kept. ');
});

it('K51: what comes after the end is no part of the turn, and a new turn begins empty', () => {
  const recorder = createTurnRecorder();
  recorder.onToolStart(call);
  recorder.onText('Done.');
  recorder.end();
  recorder.onText(' Late.');
  recorder.onToolStart({ ...call, id: 'call_2' });
  recorder.onToolEnd({ id: 'call_1' });
  recorder.onRestart();
  expect(recorder.text).toBe('Done.');
  expect(recorder.activities).toEqual([{ id: 'call_1', tool: 'read', input: {}, textOffset: 0 }]);
  recorder.start();
  recorder.onText('Again.');
  expect(recorder.text).toBe('Again.');
});
