const legalId = /^[a-zA-Z0-9_-]{1,64}$/;

/** An id that the provider takes. An illegal one is mapped, always to the same, so that a call and its result stay a pair. */
export function legalToolId(id: string): string {
  if (legalId.test(id)) return id;
  return `${id.slice(0, 40).replace(/[^a-zA-Z0-9_-]/g, '_')}_${hash(id)}`;
}

/** FNV-1a in two lanes: different ids that look alike after the replacement stay different. */
function hash(text: string): string {
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
