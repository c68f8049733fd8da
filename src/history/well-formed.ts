/**
 * The value with every lone surrogate replaced by U+FFFD: a provider refuses JSON that holds one. The very same value where there is
 * none; a copy of the same class where there is one in it. B138, B140
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
  return changed.length === 0 ? value : copyWith(value, Object.fromEntries(changed.map(([key, entry]) => [key, entry])));
}

/** A message of a framework is more than its fields: without its class nobody would take it. */
function copyWith(value: object, changes: object): object {
  const descriptors = Object.getOwnPropertyDescriptors({ ...value, ...changes });
  return Object.create(Object.getPrototypeOf(value), descriptors);
}

/** The largest position up to `end` that does not split a surrogate pair. */
export function cutBefore(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit < 0xdc00 ? end - 1 : end;
}
