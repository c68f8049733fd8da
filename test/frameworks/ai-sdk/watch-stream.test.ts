import { describe, expect, it } from 'vitest';
import { watchStream } from '../../../src/frameworks/ai-sdk/watch-stream.ts';

/** A source that gives `values`, then ends as it is told, and remembers how often it was asked and why it was cancelled. */
function sourceOf(values: readonly number[], ending: 'close' | 'hang' | Error = 'close') {
  const log = { pulls: 0, cancelled: [] as unknown[] };
  const rest = [...values];
  const stream = new ReadableStream<number>(
    {
      pull(controller) {
        log.pulls++;
        const value = rest.shift();
        if (value !== undefined) controller.enqueue(value);
        else if (ending === 'close') controller.close();
        else if (ending !== 'hang') controller.error(ending);
      },
      cancel: (reason) => void log.cancelled.push(reason),
    },
    { highWaterMark: 0 },
  );
  return { stream, log };
}

async function drain(stream: ReadableStream<number>): Promise<number[]> {
  const values: number[] = [];
  for await (const value of stream) values.push(value);
  return values;
}

describe('watchStream', () => {
  it('gives every value, in order, and shows each as it passes', async () => {
    const seen: number[] = [];
    expect(await drain(watchStream(sourceOf([1, 2, 3]).stream, (value) => seen.push(value)))).toEqual([1, 2, 3]);
    expect(seen).toEqual([1, 2, 3]);
  });

  it('asks the source for nothing that was not asked for', async () => {
    const { stream, log } = sourceOf([1, 2, 3]);
    const reader = watchStream(stream, () => undefined).getReader();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(log.pulls).toBe(0);
    await reader.read();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(log.pulls).toBe(1);
  });

  it('fails with the very error of the source', async () => {
    const error = new Error('connection lost');
    const reader = watchStream(sourceOf([1], error).stream, () => undefined).getReader();
    expect(await reader.read()).toEqual({ done: false, value: 1 });
    await expect(reader.read()).rejects.toBe(error);
  });

  it('cancels the source, also while it waits for it', async () => {
    const { stream, log } = sourceOf([1], 'hang');
    const reader = watchStream(stream, () => undefined).getReader();
    await reader.read();
    const waiting = reader.read();
    await reader.cancel('enough');
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(log.cancelled).toEqual(['enough']);
  });

  it('can be teed and piped like the source', async () => {
    const [left, right] = watchStream(sourceOf([1, 2]).stream, () => undefined).tee();
    expect(await Promise.all([drain(left), drain(right)])).toEqual([
      [1, 2],
      [1, 2],
    ]);
    const doubled = new TransformStream<number, number>({ transform: (value, controller) => controller.enqueue(2 * value) });
    expect(await drain(watchStream(sourceOf([1, 2]).stream, () => undefined).pipeThrough(doubled))).toEqual([2, 4]);
  });
});
