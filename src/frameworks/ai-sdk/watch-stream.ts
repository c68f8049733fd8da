/**
 * The same stream, whose values are seen as they pass. Nothing is read before it is asked for, and ends, errors and cancellation go
 * through as they are.
 */
export function watchStream<Value>(stream: ReadableStream<Value>, onValue: (value: Value) => void): ReadableStream<Value> {
  const reader = stream.getReader();
  return new ReadableStream<Value>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        onValue(value);
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
