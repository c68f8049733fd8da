/**
 * Longest run of one kind that goes to the tokenizer whole. The longest o200k token is 128 spaces, so shorter cuts miscount
 * indentation and rulers; longer ones only cost time.
 */
const longestRun = 128;
/** Digits are counted three to a token, so a cut between them must fall on a multiple of three. */
const longestNumber = 126;

const letter = 1;
const number = 2;
const space = 4;
const other = 8;
/** Line breaks and slashes may follow punctuation inside one o200k piece, in any mixture. */
const tail = 16;

/** Kinds of each UTF-16 code unit, filled as they are met. No unit is of no kind, so 0 means not yet met. */
const kinds = new Uint8Array(0x10000);

/**
 * The kinds of pieces a character may be part of, for the splitting rules of every encoding. Marks count both as letters and as symbols.
 */
function learnKinds(unit: number): number {
  const character = String.fromCharCode(unit);
  let found = 0;
  // Half a pair says nothing about the character, which may be of any kind but space.
  if (unit >= 0xd800 && unit < 0xe000) found = letter | number | other;
  else {
    if (/[\p{L}\p{M}]/u.test(character)) found |= letter;
    if (/\p{N}/u.test(character)) found |= number;
    if (/\s/u.test(character)) found |= space;
    if (/[^\s\p{L}\p{N}]/u.test(character)) found |= other;
    if (/[\r\n/]/.test(character)) found |= tail;
  }
  kinds[unit] = found;
  return found;
}

function isInsidePair(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800;
}

/**
 * Where the chunk of `text` that begins at `start` should end so that no run of one kind in it is longer than 128 UTF-16 units:
 * the length of the text where it has no such run, as ordinary text has none.
 *
 * Tokenizers split text into pieces and merge each piece in quadratic time; a piece never leaves the runs of its kind, so cutting
 * the runs bounds the pieces. B135. Never inside a surrogate pair.
 *
 * @example
 * endOfChunk('plain words', 0); // 11
 * endOfChunk('='.repeat(1000), 0); // 128
 */
export function endOfChunk(text: string, start: number): number {
  let shared = 0;
  let length = 0;
  for (let index = start; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const found = kinds[unit] || learnKinds(unit);
    shared &= found;
    if (shared === 0) {
      shared = found;
      length = 1;
    } else if (++length > (shared === number ? longestNumber : longestRun) && !isInsidePair(text, index)) return index;
  }
  return text.length;
}
