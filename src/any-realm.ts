// What a value is, whichever realm made it: under Jest and in other sandboxes, `instanceof` knows only its own.

export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && tagOf(value) === '[object Uint8Array]';
}

/** True for an object of no class: what JSON and literals make. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

export function isError(value: unknown): value is Error {
  return value instanceof Error || tagOf(value) === '[object Error]' || tagOf(value) === '[object DOMException]';
}

export function isRegExp(value: unknown): value is RegExp {
  return tagOf(value) === '[object RegExp]';
}

export function isUrl(value: unknown): value is URL {
  return tagOf(value) === '[object URL]';
}

function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value);
}
