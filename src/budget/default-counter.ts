import { countBytesByThree, type TokenCounter } from './token-counter.ts';

/** What counts the text: the caller's own counter, the o200k tokenizer, or a third of the bytes. */
export type CounterKind = 'custom' | 'tokenizer' | 'bytes';

export interface ActiveCounter {
  kind: CounterKind;
  count: TokenCounter;
}

let loaded: TokenCounter | undefined;
let loading: Promise<void> | undefined;

/** The counter to use now: the caller's, else the tokenizer once it was loaded, else a third of the bytes. */
export function activeCounter(custom: TokenCounter | undefined): ActiveCounter {
  if (custom) return { kind: 'custom', count: custom };
  return loaded ? { kind: 'tokenizer', count: loaded } : { kind: 'bytes', count: countBytesByThree };
}

/** Loads the tokenizer's tables, once in a process. Resolves also where they cannot be loaded: then bytes stay in use. */
export function loadDefaultCounter(): Promise<void> {
  loading ??= import('./tokenizer.ts')
    .then(({ loadTokenCounter }) => loadTokenCounter())
    .then(
      (counter) => {
        loaded = counter;
      },
      () => undefined,
    );
  return loading;
}
