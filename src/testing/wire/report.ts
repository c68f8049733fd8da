/** Takes one violation: which rule, where, and what was found and expected. */
export type Report = (rule: string, path: string, message: string) => void;

export type Fields = Record<string, unknown>;

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** A value in a few words, for a message. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
