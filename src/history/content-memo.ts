import { checkNesting } from './fingerprint.ts';

/**
 * Computes once for each object and again when it was edited in place. Finding that out compares the object's leaves with those seen
 * before: strings that are the same object compare at once, so it costs the number of leaves, not their length.
 */
export function memoizeByContent<Value extends object, Result>(compute: (value: Value) => Result): (value: Value) => Result {
  const memo = new WeakMap<Value, { leaves: readonly unknown[]; result: Result }>();
  return (value) => {
    const leaves: unknown[] = [];
    collectLeaves(value, leaves, 0);
    const known = memo.get(value);
    if (known && sameLeaves(known.leaves, leaves)) return known.result;
    const result = compute(value);
    memo.set(value, { leaves, result });
    return result;
  };
}

function collectLeaves(value: unknown, leaves: unknown[], depth: number): void {
  checkNesting(depth);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) leaves.push(value);
  else if (Array.isArray(value)) {
    leaves.push(value.length);
    for (const entry of value) collectLeaves(entry, leaves, depth + 1);
  } else {
    for (const key of Object.keys(value)) {
      leaves.push(key);
      // Reading by key is what the type cannot say of an object of unknown shape.
      collectLeaves((value as Record<string, unknown>)[key], leaves, depth + 1);
    }
    leaves.push(collectLeaves); // end of an object: nothing that content can forge
  }
}

function sameLeaves(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((leaf, index) => Object.is(leaf, right[index]));
}
