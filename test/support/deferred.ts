/** A promise that the test settles. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(reason: unknown): void;
}

export function deferred<Value = void>(): Deferred<Value> {
  let resolve!: (value: Value) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<Value>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  return { promise, resolve, reject };
}

/** Never settles. */
export function never<Value>(): Promise<Value> {
  return new Promise<Value>(() => {});
}

/** Lets so many steps of waiting code run. */
export async function microtasks(count: number): Promise<void> {
  for (let step = 0; step < count; step++) await undefined;
}

/** How a promise ended; `pending` where it has not. */
export type Settlement<Value> =
  | { state: 'pending' }
  | { state: 'fulfilled'; value: Value }
  | { state: 'rejected'; reason: unknown };

/** Watches a promise without waiting for it. */
export function watch<Value>(promise: Promise<Value>): { settlement: Settlement<Value> } {
  const watched: { settlement: Settlement<Value> } = { settlement: { state: 'pending' } };
  promise.then(
    (value) => {
      watched.settlement = { state: 'fulfilled', value };
    },
    (reason: unknown) => {
      watched.settlement = { state: 'rejected', reason };
    },
  );
  return watched;
}
