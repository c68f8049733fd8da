import { expect, it } from 'vitest';
import { readStream } from '../../src/adapters/read-stream.ts';

it.each(['controller', 'abortController'])('a stream that is left lets go of its connection by its %s', async (name) => {
  const controller = new AbortController();
  const stream = Object.assign(
    (async function* () {
      yield 1;
      await new Promise(() => {});
    })(),
    { [name]: controller },
  );
  for await (const _value of readStream(stream, undefined)) break;
  expect(controller.signal.aborted).toBe(true);
});
