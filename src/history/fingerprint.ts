import { CompactionError } from '../errors.ts';

// Markers of the prompt cache move from step to step without changing what is said.
const cacheMarkers = new Set(['cache_control', 'cachePoint', 'prompt_cache_breakpoint']);
const deepestNesting = 500;

/**
 * A hash of a value's content: equal for clones, whatever the order of their keys, and for values that differ in cache markers only.
 * Not cryptographic: it tells a caller's own histories apart.
 *
 * @throws CompactionError `invalid-request` for a value that refers to itself or is nested too deeply.
 */
export function fingerprint(value: unknown): string {
  const hash = new Hash();
  hashValue(hash, value, 0);
  return hash.digest();
}

/** The fingerprint of a prefix that is longer by one: of all before, and of what comes next. */
export function linkFingerprints(previous: string, next: string): string {
  const hash = new Hash();
  hash.add(previous, next);
  return hash.digest();
}

/** Ends a walk through a value that refers to itself. */
export function checkNesting(depth: number): void {
  if (depth > deepestNesting)
    throw new CompactionError('invalid-request', `Expected a value without cycles, at most ${deepestNesting} levels deep.`);
}

/** What JSON makes of an object without fields of its own: all dates, and all URLs, would look alike otherwise. */
export function sentForm(value: object): unknown {
  return 'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value;
}

function hashValue(hash: Hash, value: unknown, depth: number): void {
  checkNesting(depth);
  if (typeof value === 'string') hash.add(`s${value.length}:`, value);
  else if (typeof value !== 'object' || value === null) hash.add(`p${String(value)};`);
  else if (ArrayBuffer.isView(value)) {
    hash.add(`b${value.byteLength}:`);
    hash.addBytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  } else if (Array.isArray(value)) {
    hash.add('[');
    for (const entry of value) hashValue(hash, entry, depth + 1);
    hash.add(']');
  } else {
    const entries = Object.entries(value);
    const sent = entries.length === 0 ? sentForm(value) : value;
    if (sent !== value) {
      hashValue(hash, sent, depth + 1);
      return;
    }
    hash.add('{');
    for (const [key, entry] of entries.sort(byKey)) {
      if (entry === undefined || cacheMarkers.has(key)) continue;
      hash.add(`k${key.length}:`, key);
      hashValue(hash, entry, depth + 1);
    }
    hash.add('}');
  }
}

function byKey([left]: [string, unknown], [right]: [string, unknown]): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Two 32-bit lanes with different multipliers, mixed at the end. */
class Hash {
  #first = 0xdeadbeef;
  #second = 0x41c6ce57;

  add(...texts: readonly string[]): void {
    let first = this.#first;
    let second = this.#second;
    for (const text of texts)
      for (let index = 0; index < text.length; index++) {
        const unit = text.charCodeAt(index);
        first = Math.imul(first ^ unit, 0x9e3779b1);
        second = Math.imul(second ^ unit, 0x5f356495);
      }
    this.#first = first;
    this.#second = second;
  }

  addBytes(bytes: Uint8Array): void {
    for (const byte of bytes) {
      this.#first = Math.imul(this.#first ^ byte, 0x9e3779b1);
      this.#second = Math.imul(this.#second ^ byte, 0x5f356495);
    }
  }

  digest(): string {
    const first = mix(this.#first, this.#second);
    const second = mix(this.#second, first);
    return (first >>> 0).toString(16).padStart(8, '0') + (second >>> 0).toString(16).padStart(8, '0');
  }
}

function mix(value: number, other: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 16);
}
