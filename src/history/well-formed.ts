/**
 * The value with every lone surrogate replaced by U+FFFD: a provider refuses JSON that holds one. The very same value where there is
 * none. B138, B140
 */
export function makeWellFormed<Value>(value: Value): Value {
  // The copy has the shape of the original, which the walk cannot prove.
  return formed(value) as Value;
}

function formed(value: unknown): unknown {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) {
    const entries = value.map(formed);
    return entries.some((entry, index) => !Object.is(entry, value[index])) ? entries : value;
  }
  const changed = Object.entries(value)
    .map(([key, entry]) => [key, formed(entry), entry] as const)
    .filter(([, entry, original]) => !Object.is(entry, original));
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed.map(([key, entry]) => [key, entry])) };
}
