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

it('a tool that ends after its call was stored is still seen to end', () => {
  const recorder = createTurnRecorder();
  recorder.onToolStart(call);
  recorder.markStored(recorder.unstored);
  recorder.onToolEnd({ id: 'call_1', status: 'error', output: 'gone' });
  expect(recorder.activities).toMatchObject([{ status: 'error', output: 'gone' }]);
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
  recorder.onText('Done.');
  recorder.end();
  recorder.onText(' Late.');
  recorder.onToolStart(call);
  expect(recorder.text).toBe('Done.');
  expect(recorder.activities).toEqual([]);
  recorder.start();
  recorder.onText('Again.');
  expect(recorder.text).toBe('Again.');
});
