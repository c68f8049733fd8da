import { createHash } from 'node:crypto';

const longest = 120;

/** With any ending. */
const device = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/;

/**
 * The name of a session's file, a different one for each id on every file system: small letters, digits, `-` and `_` stay, every other
 * byte is `~` and two hex digits, and so is the first letter of what Windows takes for a device. A long name is cut and told apart by the
 * hash of its id.
 */
export function nameFile(id: string): string {
  let name = '';
  const isDevice = device.test(id);
  // Capitals too: some file systems take `A` and `a` for the same.
  for (const byte of new TextEncoder().encode(id)) {
    const character = String.fromCharCode(byte);
    name += /[a-z0-9_-]/.test(character) && !(name === '' && isDevice) ? character : `~${byte.toString(16).padStart(2, '0')}`;
  }
  // `~~` is in no short name.
  return `${name.length > longest ? `${name.slice(0, longest)}~~${createHash('sha256').update(id).digest('hex')}` : name}.jsonl`;
}
