/**
 * A copy that shares nothing that could be changed: plain objects, arrays and byte arrays are copied, strings shared, instances of
 * other classes kept as they are. What refers to itself does so in the copy too.
 */
export function copyDeep<Value>(value: Value): Value {
  // The copy has the shape of the original, which the walk cannot prove.
  return copyValue(value, new Map()) as Value;
}

function copyValue(value: unknown, copies: Map<object, object>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const known = copies.get(value);
  if (known) return known;
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    copies.set(value, copy);
    for (const entry of value) copy.push(copyValue(entry, copies));
    return copy;
  }
  if (value instanceof Uint8Array) return Uint8Array.prototype.slice.call(value); // a Buffer's own `slice` shares its memory
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const copy = {};
  copies.set(value, copy);
  for (const [key, entry] of Object.entries(value)) {
    // As in JSON, `__proto__` is a key like any other.
    Object.defineProperty(copy, key, { value: copyValue(entry, copies), writable: true, enumerable: true, configurable: true });
  }
  return copy;
}
