import { Buffer } from 'node:buffer';
import { isUint8Array } from 'node:util/types';
import { CompactionError } from '../../errors.ts';

/** Bytes are written as `{ "$bytes": "…base64…" }`. */
const bytesKey = '$bytes';

/** Who else has such a key gets one `$` more in it each time that it is written, so that what is written as bytes is bytes. */
const bytesLike = /^\$+bytes$/;

/**
 * A payload as JSON on one line, with `Uint8Array`s in it. The only place that says how.
 *
 * @throws CompactionError `invalid-event` where JSON cannot say it: a cycle, a bigint, an endless depth.
 */
export function writePayload(payload: unknown): string {
  try {
    return JSON.stringify(payload, replaceBytes) ?? 'null';
  } catch (cause) {
    throw new CompactionError('invalid-event', 'Expected a payload that JSON can say: `cause` names what it cannot.', { cause });
  }
}

/** The payload that was written. Throws where the text is no JSON. */
export function readPayload(text: string): unknown {
  const payload: unknown = JSON.parse(text);
  // Reviving visits every value: only where there is something to revive.
  return text.includes(`${bytesKey}":`) ? reviveBytes(payload) : payload;
}

// A Buffer turns itself into a list of numbers before it is shown to the replacer, so the value is taken from its owner.
function replaceBytes(this: unknown, key: string, shown: unknown): unknown {
  const value: unknown = typeof this === 'object' && this !== null ? Reflect.get(this, key) : shown;
  // Also those of another realm, as a test runner or a sandbox has.
  for (const bytes of [value, shown])
    if (isUint8Array(bytes))
      return { [bytesKey]: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') };
  return hasLikeKey(shown) ? renameKeys(shown, (like) => `$${like}`) : shown;
}

/** Without recursion: the stack that was deep enough to write may be deeper than the one that reads. */
function reviveBytes(payload: unknown): unknown {
  const root = { payload };
  const open: object[] = [root];
  for (let owner = open.pop(); owner; owner = open.pop())
    for (const [key, value] of Object.entries(owner)) {
      const revived = reviveValue(value);
      // Not by assignment, which takes `__proto__` for the prototype.
      if (revived !== value)
        Object.defineProperty(owner, key, { value: revived, writable: true, enumerable: true, configurable: true });
      if (typeof revived === 'object' && revived !== null && !isUint8Array(revived)) open.push(revived);
    }
  return root.payload;
}

function reviveValue(value: unknown): unknown {
  if (!hasLikeKey(value)) return value;
  if (Object.hasOwn(value, bytesKey)) return new Uint8Array(Buffer.from(String(Reflect.get(value, bytesKey)), 'base64'));
  return renameKeys(value, (like) => like.slice(1));
}

function hasLikeKey(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).some((key) => bytesLike.test(key))
  );
}

function renameKeys(value: object, rename: (like: string) => string): object {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [bytesLike.test(key) ? rename(key) : key, inner]));
}
