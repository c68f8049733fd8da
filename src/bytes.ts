/** True for a `Uint8Array` of any realm: under Jest, and in other sandboxes, `instanceof` knows only its own. */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === '[object Uint8Array]';
}
