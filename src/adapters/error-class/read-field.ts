export type Fields = Record<string, unknown>;

/** Lists are objects here, too: whatever an error is, it has fields. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

/** The getters of what was thrown may throw. */
export function readField(value: Fields, key: string): unknown {
  try {
    return value[key];
  } catch {
    return undefined;
  }
}
