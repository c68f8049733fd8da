/** FNV-1a in two lanes, as 16 hexadecimal digits: for ids that must come out the same each time. */
export function hashText(text: string): string {
  let first = 0x811c9dc5;
  let second = 0x9747b28c;
  for (let index = 0; index < text.length; index++) {
    first = Math.imul(first ^ text.charCodeAt(index), 0x01000193);
    second = Math.imul(second ^ text.charCodeAt(index), 0x85ebca6b);
  }
  return hex(first) + hex(second);
}

function hex(lane: number): string {
  return (lane >>> 0).toString(16).padStart(8, '0');
}
