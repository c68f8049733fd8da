export type Fields = Record<string, unknown>;

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

/** A list as it is, nothing in place of anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text; empty for what is no text. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** True for what says nothing. The SDK's reply objects hold many such fields (`refusal: null`, `annotations: []`). */
export function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}
