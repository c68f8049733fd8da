/**
 * A copy that shares nothing that could be changed: plain objects, arrays and byte arrays are copied, strings shared, instances of
 * other classes kept as they are.
 */
export function copyDeep<Value>(value: Value): Value {
  // The copy has the shape of the original, which the walk cannot prove.
  return copyValue(value) as Value;
}

function copyValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyValue);
  if (value instanceof Uint8Array) return value.slice();
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, copyValue(entry)]));
}
