import { expect, it } from 'vitest';
import { createTurnRecorder, type HeadlessResult, runHeadless, type TurnRecorder } from '../../src/session.ts';

const collect = () => {
  const written: HeadlessResult[] = [];
  return { written, write: (result: HeadlessResult) => void written.push(result) };
};

it('K53: writes the whole text once: what a checkpoint took, then the rest', async () => {
  const { written, write } = collect();
  const recorder = createTurnRecorder();
  const text = await runHeadless(
    async ({ onText, markStored }) => {
      onText('Half ');
      markStored(recorder.unstored);
      onText('and half.');
      return 'stop';
    },
    write,
    recorder,
  );
  expect(text).toBe('Half and half.');
  expect(written).toEqual([{ text: 'Half and half.' }]);
});

it('K53: where the resumed stream fails, the text until then is written and the very error is thrown', async () => {
  const { written, write } = collect();
  const error = new Error('connection lost');
  const run = runHeadless(async (recorder) => {
    recorder.onText('Half ');
    recorder.markStored(recorder.unstored); // as a compaction does
    recorder.onText('and ha');
    throw error;
  }, write);
  await expect(run).rejects.toBe(error);
  expect(written).toEqual([{ text: 'Half and ha', error }]);
});

it('K53: where writing fails, too, both are told', async () => {
  const [error, full] = [new Error('connection lost'), new Error('disk full')];
  const failed = await runHeadless(
    () => Promise.reject(error),
    () => Promise.reject(full),
  ).catch((reason: unknown) => reason);
  expect(failed).toBeInstanceOf(AggregateError);
  expect(failed).toMatchObject({ errors: [error, full], cause: error });
});

it('K54: a stream that ended without an end is an error; one that told nothing ended well', async () => {
  const { written, write } = collect();
  await expect(runHeadless(async () => 'incomplete', write)).rejects.toMatchObject({ code: 'incomplete-reply' });
  await expect(runHeadless(async () => undefined, write)).resolves.toBe('');
  expect(written).toMatchObject([{ text: '', error: { code: 'incomplete-reply' } }, { text: '' }]);
});

it('K51: what comes after the run is no part of it', async () => {
  const recorder = createTurnRecorder();
  const task = async ({ onText }: TurnRecorder): Promise<undefined> => {
    onText('Done.');
  };
  await runHeadless(task, () => undefined, recorder);
  recorder.onText(' Late.');
  expect(recorder.text).toBe('Done.');
});
