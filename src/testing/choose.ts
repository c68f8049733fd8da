/** Makes a choice: a whole number from 0 to `below` - 1. Every random thing of a conversation comes from one such function. */
export type Choose = (below: number) => number;

/**
 * Choices from a seed: the same seed makes the same choices, on every machine.
 *
 * @example
 * const choose = chooseFrom(42);
 * const role = ['user', 'assistant'][choose(2)];
 */
export function chooseFrom(seed: number): Choose {
  let state = seed | 0;
  return (below) => {
    // mulberry32: small, and good enough for tests.
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Choices from a list of numbers, then 0: a property test that shrinks the list shrinks what is made of it. */
export function chooseFromList(numbers: readonly number[]): Choose {
  let next = 0;
  return (below) => (numbers[next++] ?? 0) % below;
}

/** One of several things. */
export function oneOf<Thing>(choose: Choose, things: readonly [Thing, ...Thing[]]): Thing {
  return things[choose(things.length)] ?? things[0];
}

/** True once in so many times, and false where all choices are 0. */
export function sometimes(choose: Choose, times: number): boolean {
  return choose(times) === times - 1;
}
