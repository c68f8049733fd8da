export type Fields = Record<string, unknown>;

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of an object; none of anything else. */
export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** The fields that are sent: of an instance that says what JSON makes of it, as one with getters has to, those. */
export function sentFields(value: object): Fields {
  return 'toJSON' in value && typeof value.toJSON === 'function' ? fieldsOf(value.toJSON()) : { ...value };
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

/** The fields without these: the very same object where it has none of them. */
export function withoutFields(fields: Fields, names: readonly string[]): Fields {
  if (!names.some((name) => name in fields)) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

/** What providers get of a value that is no text; empty for what JSON does not know. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_name, entry: unknown) => (typeof entry === 'bigint' ? String(entry) : entry)) ?? '';
}
