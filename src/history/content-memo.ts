import { checkNesting, sentForm } from './fingerprint.ts';

/**
 * Computes once for each object and again when it was edited in place. Finding that out compares the object's leaves with those seen
 * before: strings that are the same object compare at once, so it costs the number of leaves, not their length.
 */
export function memoizeByContent<Value extends object, Result>(compute: (value: Value) => Result): (value: Value) => Result {
  const memo = new WeakMap<Value, { leaves: readonly unknown[]; result: Result }>();
  return (value) => {
    const known = memo.get(value);
    if (known && compareLeaves(value, known.leaves, 0, 0) === known.leaves.length) return known.result;
    const leaves: unknown[] = [];
    collectLeaves(value, leaves, 0);
    const result = compute(value);
    memo.set(value, { leaves, result });
    return result;
  };
}

/** Marks the end of an object: nothing that content can forge. */
const objectEnd = Symbol('object end');

function collectLeaves(value: unknown, leaves: unknown[], depth: number): void {
  checkNesting(depth);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) leaves.push(value);
  else if (Array.isArray(value)) {
    leaves.push(value.length);
    for (const entry of value) collectLeaves(entry, leaves, depth + 1);
  } else {
    const keys = Object.keys(value);
    const sent = keys.length === 0 ? sentForm(value) : value;
    if (sent !== value) collectLeaves(sent, leaves, depth + 1);
    for (const key of keys) {
      leaves.push(key);
      collectLeaves(readKey(value, key), leaves, depth + 1);
    }
    leaves.push(objectEnd);
  }
}

/** The same walk against leaves that are known, without keeping any. The position behind the last equal leaf, -1 where one differs. */
function compareLeaves(value: unknown, leaves: readonly unknown[], from: number, depth: number): number {
  checkNesting(depth);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value))
    return Object.is(leaves[from], value) ? from + 1 : -1;
  if (Array.isArray(value)) {
    if (leaves[from] !== value.length) return -1;
    let next = from + 1;
    for (let index = 0; index < value.length && next !== -1; index++) next = compareLeaves(value[index], leaves, next, depth + 1);
    return next;
  }
  const keys = Object.keys(value);
  let next = from;
  const sent = keys.length === 0 ? sentForm(value) : value;
  if (sent !== value) next = compareLeaves(sent, leaves, next, depth + 1);
  for (let index = 0; index < keys.length && next !== -1; index++) {
    const key = keys[index] ?? '';
    next = leaves[next] === key ? compareLeaves(readKey(value, key), leaves, next + 1, depth + 1) : -1;
  }
  return next !== -1 && leaves[next] === objectEnd ? next + 1 : -1;
}

/** Reading by key is what the type cannot say of an object of unknown shape. */
function readKey(value: object, key: string): unknown {
  return (value as Record<string, unknown>)[key];
}
