import { isBytes, isPlainObject } from '../../any-realm.ts';
import type { Choose } from '../choose.ts';
import type { ProviderKit } from '../provider-kit.ts';
import type { WireViolation } from '../wire/violation.ts';

/** One promise of every adapter. Throws where it is broken. */
export interface Check {
  /** A plain sentence. */
  name: string;
  /** False: there is nothing to choose, one run is enough. */
  random: boolean;
  holds: <Request, Item, Reply>(kit: ProviderKit<Request, Item, Reply>, choose: Choose) => void | Promise<void>;
}

/** The message is made where it is needed: requests are long. */
export function expectThat(condition: boolean, message: string | (() => string)): asserts condition {
  if (!condition) throw new Error(typeof message === 'string' ? message : message());
}

/** What was sent must be what the provider takes. */
export function expectValid<Request, Item, Reply>(
  kit: ProviderKit<Request, Item, Reply>,
  what: string,
  request: Request,
  known: readonly WireViolation[] = [],
): void {
  const rules = new Set(known.map(({ rule }) => rule));
  const [violation] = kit.validate(request).filter(({ rule }) => !rules.has(rule));
  expectThat(
    violation === undefined,
    () => `${what} would be refused: ${violation?.rule} at ${violation?.path}: ${violation?.message} ${preview(request)}`,
  );
}

/** A value in short, for a message: its beginning and its end. */
export function preview(value: unknown): string {
  const text =
    JSON.stringify(value, (_, entry: unknown) => (ArrayBuffer.isView(entry) ? `${entry.byteLength} bytes` : entry)) ?? '';
  return text.length > 2000 ? `${text.slice(0, 700)} […] ${text.slice(-1300)}` : text;
}

/** Makes every write into a value throw, down to its leaves. Bytes cannot be frozen. */
export function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const entry of Object.values(value)) freeze(entry);
  return value;
}

/** True where two values say the same, key by key, whatever the order of the keys. */
export function isSame(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (!isAlike(left, right)) return false;
  const entries = Object.entries(left).filter(([, entry]) => entry !== undefined);
  const others = new Map(Object.entries(right).filter(([, entry]) => entry !== undefined));
  return entries.length === others.size && entries.every(([key, entry]) => others.has(key) && isSame(entry, others.get(key)));
}

/** What is of one kind in every realm may come from another one. */
function isAlike(left: object, right: object): boolean {
  for (const is of [Array.isArray, isBytes, isPlainObject]) if (is(left) || is(right)) return is(left) && is(right);
  return Object.getPrototypeOf(left) === Object.getPrototypeOf(right);
}
