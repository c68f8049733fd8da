import { isBytes, isPlainObject } from './any-realm.ts';

/** Requests that can be read are less deep: below it lie odd fields that nobody reads. */
const deepestNesting = 1000;

/**
 * A copy that shares nothing that could be changed: plain objects, arrays and byte arrays are copied, strings shared, instances of
 * other classes kept as they are, and what is nested deeper than any request. What refers to itself does so in the copy too.
 */
export function copyDeep<Value>(value: Value): Value {
  // The copy has the shape of the original, which the walk cannot prove.
  return copyValue(value, new Map(), 0) as Value;
}

function copyValue(value: unknown, copies: Map<object, object>, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > deepestNesting) return value;
  const known = copies.get(value);
  if (known) return known;
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    copies.set(value, copy);
    for (const entry of value) copy.push(copyValue(entry, copies, depth + 1));
    return copy;
  }
  if (isBytes(value)) return Uint8Array.prototype.slice.call(value); // a Buffer's own `slice` shares its memory
  if (!isPlainObject(value)) return value;
  const copy = {};
  copies.set(value, copy);
  for (const [key, entry] of Object.entries(value)) {
    // As in JSON, `__proto__` is a key like any other.
    Object.defineProperty(copy, key, {
      value: copyValue(entry, copies, depth + 1),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return copy;
}
